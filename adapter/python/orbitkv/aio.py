"""The client for asyncio. The ring is driven by the loop's thread; copies and what blocks run in its executor.

    async with await orbitkv.aio.connect(path) as client:
        async with await client.query([("model", b"hash")]) as lease:
            await lease.copy_into(0, page)
"""

from __future__ import annotations

import _thread
import asyncio
import os
import time
from types import TracebackType
from typing import Any, Callable, Sequence

from . import client as sync
from .errors import DeadlineExceeded, OrbitKVError
from .lease import Block, Lease
from .memory import RegisteredMemory
from .session import Call
from .wire import Opcode

_BACKSTOP = 1.0
_FULL_PAUSE = 0.001


class AsyncLease:
    """As :class:`orbitkv.Lease`; the copies run in the loop's executor, without the GIL."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What was found, in the order of the names."""
        return self._lease.blocks

    def __len__(self) -> int:
        return len(self._lease)

    @property
    def expired(self) -> bool:
        """Whether a copy may begin no more."""
        return self._lease.expired

    async def copy_into(self, index: int, buffer: Any) -> int:
        """As :meth:`orbitkv.Lease.copy_into`. Cancelling it does not stop a copy that has begun."""
        return await asyncio.to_thread(self._lease.copy_into, index, buffer)

    async def copy_all(self, buffers: Sequence[Any]) -> int:
        """As :meth:`orbitkv.Lease.copy_all`. Cancelling it does not stop a copy that has begun."""
        return await asyncio.to_thread(self._lease.copy_all, buffers)

    def close(self) -> None:
        """Releases the blocks, after the copies under way. Never waits."""
        self._lease.close()

    async def __aenter__(self) -> "AsyncLease":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class AsyncPublication:
    """As :class:`orbitkv.Publication`."""

    def __init__(self, owner: "AsyncClient", publication: sync.Publication, ended: "asyncio.Future[None]") -> None:
        self._owner = owner
        self._publication = publication
        self._ended = ended

    @property
    def pending(self) -> bool:
        """Whether it has not ended."""
        return not self._ended.done()

    async def wait(self, timeout: float | None = None) -> list[sync.PublishResult] | None:
        """Its results; None while it is pending. A timeout or a cancel of this wait ends nothing."""
        await asyncio.wait({self._ended}, timeout=timeout)
        return None if self.pending else self._publication.wait(0)


class AsyncClient:
    """As :class:`orbitkv.Client`, for one event loop, whose thread alone may use it. Made by :func:`connect`."""

    def __init__(self, client: sync.Client) -> None:
        self._client = client
        self._session = client._session
        self._timeout = client._timeout
        self._loop = asyncio.get_running_loop()
        self._thread = _thread.get_ident()
        self._outstanding = 0
        self._backstop: asyncio.TimerHandle | None = None
        self._watched = self._session.descriptors()
        for fd in self._watched:
            self._loop.add_reader(fd, self._pump)

    @property
    def manager_epoch(self) -> str:
        """The identity of the Manager's incarnation."""
        return self._client.manager_epoch

    def peer_alive(self) -> bool:
        """Whether the Manager's process runs."""
        return self._client.peer_alive()

    def activity(self) -> sync.Activity:
        """What the publishes of this client are doing."""
        return self._client.activity()

    async def ping(self) -> None:
        """One round trip of the channel."""
        call = await self._submit(lambda until: self._session.submit(Opcode.PING, room_until=until))
        await self._answer(call, "ping", self._timeout, None)
        sync._expect(call.result(), Opcode.PONG)

    async def status(self) -> dict[str, Any]:
        """The Manager's state."""
        state: dict[str, Any] = await self._apart(self._client.status)
        return state

    async def register(self, memory: int | None = None, *, fd: int | None = None, offset: int = 0) -> RegisteredMemory:
        """Memory that the Manager may read, registered. Its ``close()`` waits for the Manager."""
        made: RegisteredMemory = await self._apart(lambda: self._client.register(memory, fd=fd, offset=offset))
        return made

    async def publish(self, pieces: Sequence[sync.Piece], *, digest: bool = False) -> AsyncPublication:
        """As :meth:`orbitkv.Client.publish`."""
        call = await self._submit(lambda until: self._client.submit_publish(pieces, digest, until))
        publication = self._client.track(sync.Publication(self._client, pieces, call))
        return AsyncPublication(self, publication, self._ended(call, self._client.forget_publication))

    async def query(
        self,
        names: Sequence[sync.Name],
        *,
        fetch: bool = False,
        stop_at_first_miss: bool = False,
        timeout: float = 10.0,
    ) -> AsyncLease:
        """As :meth:`orbitkv.Client.query`. Cancelled, it releases what comes later."""
        call = await self._submit(
            lambda until: self._client.submit_query(names, fetch, stop_at_first_miss, timeout, until)
        )
        await self._answer(call, "query", timeout + self._timeout, self._client.abandon_query)
        return AsyncLease(self._client.lease(call, names))

    async def close(self) -> None:
        """As :meth:`orbitkv.Client.close`."""
        self._unwatch()
        await asyncio.to_thread(self._client.close)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _apart(self, blocking: Callable[[], Any]) -> Any:
        """A blocking call in the executor; it takes answers out for the loop meanwhile, and wakes it."""
        try:
            return await asyncio.to_thread(blocking)
        finally:
            self._pump()

    async def _submit(self, attempt: Callable[[int], Call]) -> Call:
        """A full ring is asked again, so that the loop's thread never blocks."""
        deadline = self._loop.time() + self._timeout
        while True:
            try:
                return attempt(time.perf_counter_ns())
            except OrbitKVError as e:
                full = isinstance(e, DeadlineExceeded) or isinstance(e.__cause__, DeadlineExceeded)
                if not full or self._loop.time() >= deadline:
                    raise
            self._session.pump()
            await asyncio.sleep(_FULL_PAUSE)

    async def _answer(
        self, call: Call, what: str, timeout: float, abandon: Callable[[Call], None] | None
    ) -> None:
        given_up: list[Callable[[Call], None]] = []

        def late(call: Call) -> None:
            try:
                given_up.pop()(call)
            except IndexError:
                pass  # it is waited for, or was dealt with by the other thread

        ended = self._ended(call, late)
        try:
            await asyncio.wait({ended}, timeout=timeout)
            if not ended.done():
                raise self._client._late(what, timeout)
        except BaseException:
            # What counts it as outstanding stays in place, and does this as well once it is answered.
            if abandon is not None:
                given_up.append(abandon)
                if call.done:
                    late(call)
            raise

    def _ended(self, call: Call, also: Callable[[Call], None] | None) -> "asyncio.Future[None]":
        """A future that is done when the call is."""
        ended: asyncio.Future[None] = self._loop.create_future()
        self._outstanding += 1

        def finish() -> None:
            self._outstanding -= 1
            if not ended.done():
                ended.set_result(None)

        def then(call: Call) -> None:
            if also is not None:
                also(call)
            if _thread.get_ident() == self._thread:
                finish()
            else:
                self._loop.call_soon_threadsafe(finish)

        self._session.tell(call, then)
        self._pump()
        return ended

    def _pump(self) -> None:
        """Takes out what is there, and asks for a wake if more is to come."""
        self._session.pump()
        if not self._session.standing:
            self._unwatch()
            return
        if not self._outstanding:
            self._session.rested()
        elif self._watched:
            if not self._session.rest():
                # Again behind the other events: whoever takes answers out just now may be another thread.
                self._loop.call_soon(self._pump)
                return
            if self._backstop is None:
                self._backstop = self._loop.call_later(_BACKSTOP, self._look)

    def _look(self) -> None:
        """A wake that was lost costs a second at most; without anything outstanding there is no timer."""
        self._backstop = None
        if self._outstanding and self._session.standing:
            self._session.nudge()
            self._pump()

    def _unwatch(self) -> None:
        for fd in self._watched:
            self._loop.remove_reader(fd)
        self._watched = []
        if self._backstop is not None:
            self._backstop.cancel()
            self._backstop = None


async def connect(
    socket_path: "str | os.PathLike[str] | None" = None,
    *,
    instance: str | None = None,
    role: str = "tool",
    timeout: float = 10.0,
    manager_uid: int | None = None,
) -> AsyncClient:
    """As :func:`orbitkv.connect`."""
    connecting = asyncio.ensure_future(
        asyncio.to_thread(
            sync.connect, socket_path, instance=instance, role=role, timeout=timeout, manager_uid=manager_uid
        )
    )
    try:
        return AsyncClient(await asyncio.shield(connecting))
    except asyncio.CancelledError:
        connecting.add_done_callback(_close_late)
        raise


def _close_late(connecting: "asyncio.Future[sync.Client]") -> None:
    """Nobody waits for that client any more."""
    if not connecting.cancelled() and connecting.exception() is None:
        _thread.start_new_thread(connecting.result().close, ())
