"""Threads that wait for one session's answers, with a Manager that answers in the order of the test."""

from __future__ import annotations

import mmap
import threading
import time
import unittest

import orbitkv
from orbitkv import wire
from orbitkv.wire import Opcode

from .fake import FakeManager
from .support import DEADLINE, until


class WaitingTest(unittest.TestCase):
    # Guard: Session._hand_on. Without it the one who is left sleeps until its own timeout.
    def test_who_leaves_hands_on(self) -> None:
        first = threading.Event()
        asked: list[int] = []

        def script(fake: FakeManager) -> None:
            fake.greet()
            ping = fake.take()
            asked.append(ping.request_id)
            query = fake.take()
            until("both wait", lambda: len(client._session._sleepers) == 1)
            fake.answer(Opcode.PONG, ping.request_id)
            assert first.wait(DEADLINE)
            fake.answer(Opcode.QUERY_ANSWER, query.request_id, 0, 0, wire.encode_blocks([]))
            fake.take()

        with FakeManager(script) as fake:
            client = orbitkv.connect(fake.path, timeout=DEADLINE)
            pinging = threading.Thread(target=client.ping)
            pinging.start()
            until("the first one drives", lambda: asked)
            found: list[orbitkv.Lease] = []
            querying = threading.Thread(target=lambda: found.append(client.query([("n", b"1")], timeout=1)))
            querying.start()
            pinging.join(DEADLINE)
            first.set()
            begin = time.monotonic()
            querying.join(DEADLINE)
            self.assertEqual(len(found), 1)
            self.assertLess(time.monotonic() - begin, DEADLINE)
            client._session.end("test")

    # Guard: the backstop of Session._sleep. Without it a wake that was lost is waited for until the timeout.
    def test_lost_wake_costs_a_second(self) -> None:
        def script(fake: FakeManager) -> None:
            fake.greet()
            ping = fake.take()
            until("the engine sleeps", lambda: fake.memory.u32[2304 // 4] == 1)
            assert fake.answers.offer(Opcode.PONG, ping.request_id, 0, 0, b"")  # and no wake
            fake.take()

        with FakeManager(script) as fake:
            client = orbitkv.connect(fake.path, timeout=DEADLINE)
            begin = time.monotonic()
            client.ping()
            self.assertLess(time.monotonic() - begin, DEADLINE / 2)
            client._session.end("test")

    # Guard: PublishBudget. Without it a Manager that answers nothing takes all memory of this process.
    def test_publishes_without_end_are_bounded(self) -> None:
        def script(fake: FakeManager) -> None:
            fake.greet()
            while True:
                fake.take()

        with FakeManager(script) as fake:
            client = orbitkv.connect(fake.path, timeout=DEADLINE)
            memory = orbitkv.RegisteredMemory(client, mmap.mmap(-1, 4096), 1, 1)
            piece = orbitkv.Piece(("n", b"1"), memory, 0, 10)
            publications = [client.publish([piece]) for _ in range(1024)]
            with self.assertRaises(orbitkv.SaveNotSubmitted) as refusal:
                client.publish([piece])
            self.assertIs(refusal.exception.fault, orbitkv.Fault.EXHAUSTED)
            client._session.end("test")
            # The fate of these is unknown, and their Manager, which is this process, runs.
            self.assertTrue(all(p.retained and not p.pending for p in publications))
            self.assertEqual(client.activity().retained, 10_240)
        with FakeManager(script) as fake:
            client = orbitkv.connect(fake.path, timeout=DEADLINE)
            memory = orbitkv.RegisteredMemory(client, mmap.mmap(-1, 4096), 1, 1)
            client.publish([orbitkv.Piece(("n", b"1"), memory, 0, 10)])  # there is room again
            client._session.end("test")

    # Guard: Session._sleep clearing the word, and nobody driving without a call. Idle, no wake is asked for.
    def test_idle_client_asks_for_no_wake(self) -> None:
        def script(fake: FakeManager) -> None:
            fake.greet()
            fake.pong()
            fake.take()

        with FakeManager(script) as fake:
            client = orbitkv.connect(fake.path, timeout=DEADLINE)
            client.ping()
            self.assertEqual(fake.memory.u32[2304 // 4], 0)
            client._session.end("test")
