"""The front for asyncio, with a real Manager."""

from __future__ import annotations

import asyncio
import logging
import os
import time
import unittest

import orbitkv
from orbitkv import aio

from .support import DEADLINE, Manager, name, needs_manager, shared


logging.getLogger("asyncio").setLevel(logging.ERROR)


async def no_lease(client: aio.AsyncClient) -> None:
    """Frames and commands have no order among each other, so a release may be seen later than a status."""
    end = time.monotonic() + DEADLINE
    while (await client.status())["leases"]["open"]:
        assert time.monotonic() < end, "a lease is still open"
        await asyncio.sleep(0.01)


@needs_manager
class AioTest(unittest.IsolatedAsyncioTestCase):
    async def test_publishes_and_reads(self) -> None:
        blocks = {name(): os.urandom(50_000) for _ in range(4)}
        async with await aio.connect(shared().socket, instance="aio", timeout=DEADLINE) as client:
            memory = await client.register(4 * 50_000)
            pieces = []
            for number, (block, data) in enumerate(blocks.items()):
                memory.buffer[number * 50_000 : (number + 1) * 50_000] = data
                pieces.append(orbitkv.Piece(block, memory, number * 50_000, 50_000))
            publication = await client.publish(pieces)
            results = await publication.wait(DEADLINE)
            self.assertEqual([result.status for result in results or []], ["stored"] * 4)
            self.assertFalse(publication.pending)
            self.assertEqual(client.activity().active, 0)
            async with await client.query([*blocks, name()]) as lease:
                pages = [bytearray(block.bytes) for block in lease.blocks]
                self.assertEqual(await lease.copy_all(pages), 200_000)
                self.assertEqual(await lease.copy_into(1, bytearray(50_000)), 50_000)
            self.assertEqual(pages, list(blocks.values()))
            with self.assertRaises(orbitkv.LeaseEnded):
                await lease.copy_into(0, pages[0])
            await no_lease(client)
            await asyncio.to_thread(memory.close)

    # Guard: AsyncClient._pump asking for a wake (Session.rest). Without it each round trip takes the second of the backstop.
    async def test_many_tasks_and_one_after_the_other(self) -> None:
        async with await aio.connect(shared().socket, timeout=DEADLINE) as client:
            await asyncio.wait_for(asyncio.gather(*(client.ping() for _ in range(3000))), DEADLINE)
            async with asyncio.timeout(DEADLINE) if hasattr(asyncio, "timeout") else _NoTimeout():
                for _ in range(300):
                    await client.ping()

    async def test_killed_manager_ends_every_wait(self) -> None:
        manager = await asyncio.to_thread(Manager)
        self.addCleanup(manager.end)
        client = await aio.connect(manager.socket, timeout=600)
        memory = await client.register(4096)
        manager.stop()
        publication = await client.publish([orbitkv.Piece(name(), memory, 0, 1)])
        self.assertIsNone(await publication.wait(0.05))
        waits = [asyncio.ensure_future(call) for call in (client.ping(), client.query([name()]), publication.wait())]
        await asyncio.sleep(0)
        manager.kill()
        ended = await asyncio.wait_for(asyncio.gather(*waits, return_exceptions=True), DEADLINE)
        self.assertEqual([type(e) for e in ended], [orbitkv.ManagerLost] * 3)
        with self.assertRaises(orbitkv.SaveNotSubmitted):
            await client.publish([orbitkv.Piece(name(), memory, 0, 1)])
        self.assertFalse(client.peer_alive())
        memory.close()
        await client.close()

    # Guard: AsyncClient._answer abandoning what was cancelled.
    async def test_cancelled_query_leaves_no_lease(self) -> None:
        manager = await asyncio.to_thread(Manager)
        self.addCleanup(manager.end)
        self.addCleanup(manager.resume)
        async with await aio.connect(manager.socket, timeout=DEADLINE) as client:
            memory = await client.register(4096)
            block = name()
            await (await client.publish([orbitkv.Piece(block, memory, 0, 1)])).wait(DEADLINE)
            manager.stop()
            query = asyncio.ensure_future(client.query([block]))
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(query), 0.05)
            query.cancel()
            await asyncio.wait({query})
            manager.resume()
            end = time.monotonic() + DEADLINE
            while client._client._queries:
                assert time.monotonic() < end, "the cancelled query was not answered"
                await client.ping()
            await no_lease(client)
            # Guard: AsyncClient._answer leaves in place what counts the call. Without it a timer runs for ever.
            while client._outstanding:
                assert time.monotonic() < end, f"{client._outstanding} calls count as outstanding for ever"
                await asyncio.sleep(0.01)
            await asyncio.to_thread(memory.close)


class _NoTimeout:
    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...
