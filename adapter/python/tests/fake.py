"""A Manager of one's own making, for answers that the real one never gives. It serves one session."""

from __future__ import annotations

import fcntl
import mmap
import os
import select
import socket
import struct
import tempfile
import threading
from typing import Callable

from orbitkv import ring, wire
from orbitkv._native import Mapping
from orbitkv.bootstrap import close_all, receive, send_frame
from orbitkv.wire import Kind, Opcode

EPOCH = bytes(range(1, 17))
ARENA_BYTES = 1 << 20


def memfd(name: str, size: int, seals: int = fcntl.F_SEAL_SHRINK) -> int:
    """A sealed memfd, zeroed."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    if seals:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


class FakeManager:
    """Listens, welcomes one client, then runs a script with it in a thread of its own."""

    def __init__(self, script: Callable[["FakeManager"], None], plans: bool = False) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="okvfake-", dir="/tmp")
        self.path = os.path.join(self._directory.name, "s")
        self._script = script
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(4)
        self._with_plans = plans
        self.session = 7
        self.failure: BaseException | None = None
        self.arena_fd = memfd("arena", ARENA_BYTES)
        self.arena = mmap.mmap(self.arena_fd, ARENA_BYTES)
        self.ring_fd = memfd("ring", ring.RING_BYTES)
        self.memory = ring.Memory(Mapping(self.ring_fd, ring.RING_BYTES, True))
        self.request_event = os.eventfd(0, os.EFD_NONBLOCK)
        self.answer_event = os.eventfd(0, os.EFD_NONBLOCK)
        self.plans_fd = memfd("plans", wire.PLANS_BYTES)
        self.plans = mmap.mmap(self.plans_fd, wire.PLANS_BYTES)
        self.plans[:4] = b"OKVP"
        self.claims_fd = memfd("claims", wire.CLAIMS_BYTES)
        self.claims = mmap.mmap(self.claims_fd, wire.CLAIMS_BYTES)
        self.requests = ring.Consumer(self.memory, ring.REQUESTS)
        self.answers = ring.Producer(self.memory, ring.ANSWERS, EPOCH)
        self.socket: socket.socket | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def welcome(self) -> wire.Welcome:
        """What a good Manager says."""
        return wire.Welcome(
            wire.VERSION,
            EPOCH,
            self.session,
            0,
            (wire.Offer(1, ARENA_BYTES),),
            wire.Offer(ring.RING_VERSION, ring.RING_BYTES),
            wire.PlansOffer(1, wire.PLANS_BYTES, 5) if self._with_plans else None,
            wire.Offer(1, wire.CLAIMS_BYTES) if self._with_plans else None,
        )

    def fds(self) -> tuple[int, ...]:
        """The descriptors that go with it."""
        plans = (self.plans_fd, self.claims_fd) if self._with_plans else ()
        return (self.arena_fd, self.ring_fd, self.request_event, self.answer_event, *plans)

    def greet(self, welcome: wire.Welcome | None = None, fds: tuple[int, ...] | None = None) -> None:
        """Answers HELLO."""
        self.hello()
        body = (welcome or self.welcome()).encode()
        self.send(Kind.WELCOME, 0, body, self.fds() if fds is None else fds)

    def hello(self) -> bytes:
        """Reads HELLO; its body."""
        header, body = self.frame()
        assert header.kind == Kind.HELLO, header
        return body

    def frame(self) -> tuple[wire.FrameHeader, bytes]:
        """The next frame of the client; raises EOFError at its end."""
        data = b""
        while True:
            if len(data) >= 48:
                header = wire.FrameHeader.decode(data)
                if len(data) == 48 + header.body_bytes:
                    return header, data[48:]
            size = 48 - len(data) if len(data) < 48 else 48 + header.body_bytes - len(data)
            assert self.socket is not None
            part, fds, _, _ = receive(self.socket, size)
            close_all(fds)
            if not part:
                raise EOFError
            data += part

    def send(self, kind: int, request: int, body: bytes, fds: tuple[int, ...] = (), version: int = wire.VERSION) -> None:
        """Sends a frame."""
        header = wire.FrameHeader(
            version, kind, len(body), wire.FRAME_MAGIC, len(fds), request, self.session, EPOCH
        ).encode()
        assert self.socket is not None
        send_frame(self.socket, header + body, fds)

    def take(self) -> ring.Taken:
        """The next command; EOFError once the client or the test is gone."""
        poll = select.poll()
        poll.register(self.request_event, select.POLLIN)
        assert self.socket is not None
        poll.register(self.socket, select.POLLRDHUP)
        while True:
            taken = self.requests.take()
            if taken is not None:
                return taken
            self.requests.sleeping(True)
            if not self.requests.ready():
                for fd, events in poll.poll(200):
                    if fd != self.request_event or self._stopping:
                        raise EOFError
                    os.eventfd_read(fd)
            self.requests.sleeping(False)
            if self._stopping:
                raise EOFError

    def answer(self, opcode: int, request: int, scalar0: int = 0, scalar1: int = 0, descriptor: bytes = b"") -> None:
        """Writes an answer and wakes the engine."""
        assert self.answers.offer(opcode, request, scalar0, scalar1, descriptor)
        self.wake()

    def wake(self) -> None:
        """Signals the answer event."""
        os.eventfd_write(self.answer_event, 1)

    def pong(self) -> None:
        """Answers one PING."""
        taken = self.take()
        assert taken.opcode == Opcode.PING, taken
        self.answer(Opcode.PONG, taken.request_id)

    def grant(self, record: int, generation: int, blocks: list[tuple[int, int, int, int]], first: int = 0) -> None:
        """Writes a plan of (index, arena, offset, bytes) and its record, then GRANTED."""
        for number, (index, arena, offset, size) in enumerate(blocks, first):
            at = 200_704 + number * 32
            self.plans[at : at + 32] = struct.pack("<IIQQQ", index, arena, offset, size, 1)
        at = 4096 + record * 192
        total = sum(size for _, _, _, size in blocks) & ((1 << 64) - 1)
        self.plans[at + 8 : at + 40] = struct.pack("<QIIQII", generation, first, len(blocks), total, 1, 1)
        self.manager_word(record, generation, 0x11)

    def manager_word(self, record: int, generation: int, state: int) -> None:
        """Writes the Manager's word."""
        at = 4096 + record * 192
        self.plans[at : at + 8] = struct.pack("<Q", generation << 8 | state)

    def engine_word(self, record: int) -> tuple[int, int]:
        """Generation and state that the engine's word says."""
        (word,) = struct.unpack("<Q", self.claims[record * 8 : record * 8 + 8])
        return word >> 8, word & 0xFF

    def _run(self) -> None:
        try:
            self.socket, _ = self._listener.accept()
            self._script(self)
        except (EOFError, OSError):
            pass
        except BaseException as e:
            self.failure = e

    def __enter__(self) -> "FakeManager":
        return self

    def __exit__(self, *_: object) -> None:
        if self._stopping:
            return
        self._stopping = True
        self._listener.close()
        if self.socket is not None:
            try:
                self.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._thread.join(10)
        if self.socket is not None:
            self.socket.close()
        for fd in (self.arena_fd, self.ring_fd, self.request_event, self.answer_event, self.plans_fd, self.claims_fd):
            os.close(fd)
        self._directory.cleanup()
        if self.failure is not None:
            raise self.failure
