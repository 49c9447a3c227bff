"""Managers that answer what they must not: the client says so in one line, and neither crashes nor reads elsewhere."""

from __future__ import annotations

import mmap
import os
import random
import struct
import threading
import time
import unittest
from dataclasses import replace
from typing import Callable

import orbitkv
from orbitkv import ring, wire
from orbitkv.wire import BlockEntry, Kind, Opcode

from .fake import ARENA_BYTES, FakeManager, memfd
from .support import DEADLINE, until

NAMES = [("n", b"1"), ("n", b"2")]


def connect(fake: FakeManager, timeout: float = DEADLINE) -> orbitkv.Client:
    return orbitkv.connect(fake.path, timeout=timeout)


def copied(client: orbitkv.Client) -> None:
    with client.query(NAMES) as lease:
        lease.copy_all([bytearray(ARENA_BYTES)] * len(lease))


class GreetingTest(unittest.TestCase):
    # Guard: the comparison of versions in bootstrap._welcome.
    def test_other_version_is_refused_naming_both(self) -> None:
        def script(fake: FakeManager) -> None:
            fake.hello()
            fake.send(Kind.WELCOME, 0, b"from the future", version=9)

        with FakeManager(script) as fake:
            with self.assertRaisesRegex(orbitkv.WrongVersion, "version 9.* 2;") as refusal:
                connect(fake)
            self.assertIs(refusal.exception.fault, orbitkv.Fault.UNSUPPORTED)

    def test_other_layout_of_the_ring_is_refused_naming_both(self) -> None:
        with FakeManager(lambda fake: fake.greet(replace(fake.welcome(), ring=wire.Offer(2, 1 << 20)))) as fake:
            with self.assertRaisesRegex(orbitkv.WrongVersion, "layout version 2 .* version 1"):
                connect(fake)

    def test_refusal_is_told_with_its_code(self) -> None:
        def script(fake: FakeManager) -> None:
            fake.hello()
            fake.send(Kind.REFUSED, 0, wire.encode_refusal(5, "64 sessions are open; try again later"))

        with FakeManager(script) as fake:
            with self.assertRaisesRegex(orbitkv.Refused, "64 sessions are open") as refusal:
                connect(fake)
            self.assertIs(refusal.exception.fault, orbitkv.Fault.EXHAUSTED)
            self.assertTrue(refusal.exception.fault.retryable)

    # Guard: the seals and the length in bootstrap._map. Without them the client is killed by SIGBUS later.
    def test_memory_that_could_be_cut_off_is_not_mapped(self) -> None:
        bad = {
            "unsealed arena": lambda f: (memfd("arena", ARENA_BYTES, 0), *f.fds()[1:]),
            "short arena": lambda f: (memfd("arena", 4096), *f.fds()[1:]),
            "unsealed ring": lambda f: (f.fds()[0], memfd("ring", ring.RING_BYTES, 0), *f.fds()[2:]),
            "no memfd": lambda f: (os.eventfd(0), *f.fds()[1:]),
            "too few": lambda f: f.fds()[:3],
            "too many": lambda f: (*f.fds(), f.fds()[0]),
        }
        for what, fds in bad.items():
            with self.subTest(what), FakeManager(lambda fake: fake.greet(fds=fds(fake))) as fake:
                before = len(os.listdir("/proc/self/fd"))
                with self.assertRaises(orbitkv.Corrupt):
                    connect(fake)
                until("nothing is left open", lambda: len(os.listdir("/proc/self/fd")) <= before + 2)

    def test_bytes_that_are_no_frames_are_no_manager(self) -> None:
        def script(fake: FakeManager) -> None:
            assert fake.socket is not None
            fake.socket.sendall(b"HTTP/1.1 400 Bad Request\r\n" * 4)

        with FakeManager(script) as fake:
            with self.assertRaisesRegex(orbitkv.Corrupt, "no Manager of OrbitKV"):
                connect(fake)

    def test_client_says_that_it_can_not_fence(self) -> None:
        seen: list[bytes] = []

        def script(fake: FakeManager) -> None:
            seen.append(fake.hello())
            fake.send(Kind.WELCOME, 0, fake.welcome().encode(), fake.fds())

        with FakeManager(script) as fake:
            client = connect(fake, 1)
            client.close()
        self.assertIn((3, bytes(8)), wire.decode_fields("HELLO", seen[0]))


class AnswersTest(unittest.TestCase):
    def answered(self, answer: Callable[[FakeManager, ring.Taken], None], call: Callable[[orbitkv.Client], object]) -> object:
        def script(fake: FakeManager) -> None:
            fake.greet()
            while True:
                taken = fake.take()
                if taken.opcode == Opcode.RELEASE:
                    released.append(taken.scalar0)
                else:
                    answer(fake, taken)

        released: list[int] = []
        with FakeManager(script) as fake:
            client = connect(fake, 5)
            try:
                return call(client)
            finally:
                until("what was leased is released", lambda: released or not self.leased)
                client._session.end("test")

    leased = False

    # Guard: the bounds in Source. Without them memcpy reads outside of the arena, and the process crashes or leaks.
    def test_blocks_outside_of_the_arenas_are_corrupt(self) -> None:
        self.leased = True
        self.addCleanup(setattr, self, "leased", False)
        for what, entry in {
            "offset": BlockEntry(0, 1, 0, ARENA_BYTES + 1, 1, 1),
            "length": BlockEntry(0, 1, 0, 8, ARENA_BYTES, 1),
            "overflow": BlockEntry(0, 1, 0, (1 << 64) - 8, 16, 1),
            "huge": BlockEntry(0, 1, 0, 0, (1 << 64) - 1, 1),
            "empty": BlockEntry(0, 1, 0, 0, 0, 1),
            "arena": BlockEntry(0, 1, 1, 0, 1, 1),
            "index": BlockEntry(2, 1, 0, 0, 1, 1),
        }.items():
            with self.subTest(what):
                with self.assertRaises(orbitkv.Corrupt):
                    self.answered(
                        lambda fake, taken: fake.answer(
                            Opcode.QUERY_ANSWER, taken.request_id, 3, 10**10, wire.encode_blocks([entry])
                        ),
                        lambda client: client.query(NAMES),
                    )

    def test_answers_of_another_kind_are_corrupt(self) -> None:
        for opcode in (Opcode.PONG, Opcode.PLAN, 0x1234):
            with self.assertRaises(orbitkv.Corrupt):
                self.answered(
                    lambda fake, taken: fake.answer(opcode, taken.request_id), lambda client: client.query(NAMES)
                )

    def test_results_that_do_not_match_are_corrupt(self) -> None:
        def answer(fake: FakeManager, taken: ring.Taken) -> None:
            fake.answer(Opcode.PUBLISH_ANSWER, taken.request_id, descriptor=wire.encode_results([]))

        def call(client: orbitkv.Client) -> None:
            memory = orbitkv.RegisteredMemory(client, mmap.mmap(-1, 4096), 1, 1)
            client.publish([orbitkv.Piece(NAMES[0], memory, 0, 1)]).wait(DEADLINE)

        with self.assertRaises(orbitkv.Corrupt):
            self.answered(answer, call)

    def test_refusal_of_a_command_is_told_with_its_code(self) -> None:
        for code, error in ((5, orbitkv.Refused), (7, orbitkv.StaleEpoch), (8, orbitkv.StaleEpoch), (999, orbitkv.Refused)):
            with self.assertRaisesRegex(error, "the reason") as refusal:
                self.answered(
                    lambda fake, taken: fake.answer(Opcode.REFUSAL, taken.request_id, code, 0, b"the reason"),
                    lambda client: client.query(NAMES),
                )
            self.assertIs(refusal.exception.fault, orbitkv.Fault.of_wire(code))

    # Guard: Session._answered comparing the epoch.
    def test_answer_of_another_epoch_is_corrupt(self) -> None:
        def answer(fake: FakeManager, taken: ring.Taken) -> None:
            fake.answers._epoch = bytes(16)
            fake.answer(Opcode.PONG, taken.request_id)

        with self.assertRaises(orbitkv.Corrupt):
            self.answered(answer, orbitkv.Client.ping)

    def test_answers_that_nobody_asked_for_are_skipped(self) -> None:
        def answer(fake: FakeManager, taken: ring.Taken) -> None:
            fake.answer(Opcode.QUERY_ANSWER, 999, 1, 1, b"nonsense")
            fake.answer(Opcode.PONG, taken.request_id)
            fake.answer(Opcode.PONG, taken.request_id)

        self.answered(answer, lambda client: (client.ping(), client.ping()))

    # Guard: Client.abandon_query. Without it the Manager holds the blocks of a query that was given up.
    def test_lease_that_comes_too_late_is_released(self) -> None:
        self.leased = True
        self.addCleanup(setattr, self, "leased", False)
        late = threading.Event()

        def answer(fake: FakeManager, taken: ring.Taken) -> None:
            if taken.opcode == Opcode.QUERY:
                self.query = taken.request_id
            else:
                fake.answer(Opcode.QUERY_ANSWER, self.query, 3, 10**10, wire.encode_blocks([]))
                fake.answer(Opcode.PONG, taken.request_id)

        def call(client: orbitkv.Client) -> None:
            client._timeout = 0.1
            with self.assertRaises(orbitkv.DeadlineExceeded):
                client.query(NAMES, timeout=0.1)
            client._timeout = DEADLINE
            client.ping()
            client.ping()
            late.set()

        self.answered(answer, call)
        self.assertTrue(late.is_set())


class BrokenTest(unittest.TestCase):
    def broken(self, breaks: Callable[[FakeManager], None], error: type[Exception]) -> str:
        def script(fake: FakeManager) -> None:
            fake.greet()
            fake.take()
            breaks(fake)
            fake.wake()
            fake.frame()

        with FakeManager(script) as fake:
            client = connect(fake)
            with self.assertRaises(error) as failure:
                client.ping()
            self.assertFalse(client.connected)
            with self.assertRaises(error):
                client.ping()
            client.close()
            return str(failure.exception)

    # Guard: Session._take_all losing the session at the first Corrupt.
    def test_ring_that_is_broken_ends_the_session(self) -> None:
        def tail(fake: FakeManager) -> None:
            fake.memory.u64[2048 // 8] = 5000

        def descriptor(fake: FakeManager) -> None:
            fake.answers.offer(Opcode.PONG, 1, 0, 0, b"x")
            fake.memory.bytes[69_632 + 32 : 69_632 + 40] = struct.pack("<Q", ring.ARENA_BYTES)

        for breaks in (tail, descriptor):
            self.assertIn("connect again", self.broken(breaks, orbitkv.Corrupt))

    def test_frame_that_is_broken_ends_the_session(self) -> None:
        def garbage(fake: FakeManager) -> None:
            assert fake.socket is not None
            fake.socket.sendall(os.urandom(8) + b"nope" + os.urandom(100))

        def version(fake: FakeManager) -> None:
            fake.send(Kind.HEALTH_STATE, 1, b"", version=7)

        def session(fake: FakeManager) -> None:
            fake.session += 1
            fake.send(Kind.HEALTH_STATE, 1, b"")

        self.broken(garbage, orbitkv.Corrupt)
        self.assertIn("version 7", self.broken(version, orbitkv.Corrupt))
        self.broken(session, orbitkv.Corrupt)

    def test_reason_of_the_end_is_told(self) -> None:
        def ends(fake: FakeManager) -> None:
            fake.send(Kind.REFUSED, 0, wire.encode_refusal(14, "ring of requests is broken"))
            assert fake.socket is not None
            fake.socket.shutdown(2)

        self.assertIn("ring of requests is broken", self.broken(ends, orbitkv.ManagerLost))

    # Guard: all of the checks above. Random bytes in every answer: only errors of this package come out.
    def test_random_answers_do_not_crash(self) -> None:
        seed = time.time_ns()
        chance = random.Random(seed)
        opcodes = [*Opcode, 0x1234]

        def script(fake: FakeManager) -> None:
            fake.greet()
            while True:
                taken = fake.take()
                if taken.opcode == Opcode.RELEASE:
                    continue
                size = chance.choice((0, 8, 48, 88, 104, 4096))
                data = chance.randbytes(size)
                if size and chance.random() < 0.7:
                    data = struct.pack("<II", chance.randrange(3), 0) + data[8:]
                fake.answer(
                    chance.choice(opcodes),
                    taken.request_id,
                    chance.getrandbits(chance.choice((1, 16, 64))),
                    chance.getrandbits(64),
                    data,
                )

        with FakeManager(script, plans=True) as fake, connect(fake) as client:
            memory = orbitkv.RegisteredMemory(client, mmap.mmap(-1, 4096), 1, 1)
            piece = orbitkv.Piece(NAMES[0], memory, 0, 1)
            calls: list[Callable[[], object]] = [
                client.ping,
                lambda: copied(client),
                lambda: client.publish([piece]).wait(DEADLINE),
                lambda: client.promise(NAMES),
                lambda: client.observe(1, 5),
                lambda: client.candidates(NAMES),
            ]
            failed = 0
            for _ in range(3000):
                try:
                    chance.choice(calls)()
                except (orbitkv.OrbitKVError, ValueError):
                    failed += 1
            self.assertGreater(failed, 1000, f"seed {seed}")
            client._session.end("test")
