"""One session with a Manager: its socket, its ring, and who waits for what.

There is no thread of its own. A thread that waits for an answer takes answers out of the ring for all threads; one
does at a time and hands on. Idle, a session uses no processor.
"""

from __future__ import annotations

import _thread
import errno
import os
import select
import socket
import time
from typing import Any, Callable, Protocol

from . import ring, wire
from ._native import ForkMark
from .bootstrap import Welcomed, close_all, receive, send_frame
from .errors import Closed, Corrupt, DeadlineExceeded, Fault, Forked, ManagerLost, OrbitKVError, refused
from .wire import Kind, Opcode

BACKSTOP_NANOS = 1_000_000_000
FOREVER_NANOS = 1 << 62

_now = time.perf_counter_ns
_allocate_lock = _thread.allocate_lock


class Awaited(Protocol):
    """Something that a thread waits for."""

    @property
    def done(self) -> bool: ...


class Call:
    """A command or a frame that was sent; ``done`` once it was answered or never will be."""

    __slots__ = ("id", "done", "answer", "fault", "then")

    def __init__(self, then: Callable[["Call"], None] | None = None) -> None:
        self.id = 0
        self.done = False
        self.answer: Any = None
        self.fault: OrbitKVError | None = None
        self.then = then

    def result(self) -> Any:
        """The answer; raises how it failed, the Manager's refusal included."""
        fault = self.fault
        if fault is not None:
            raise again(fault)
        return self.answer


class _Room:
    """Room in the ring for one command, or none ever more."""

    __slots__ = ("_session", "_size")

    def __init__(self, session: "Session", size: int) -> None:
        self._session = session
        self._size = size

    @property
    def done(self) -> bool:
        return self._session._has_room(self._size)


def again(fault: OrbitKVError) -> OrbitKVError:
    """The same failure as an exception of one's own, so that threads do not share a traceback."""
    copy = type(fault).__new__(type(fault))
    copy.args = fault.args
    copy.fault = fault.fault
    copy.__cause__ = fault
    return copy


class Session:
    """Thread-safe. Its end is final."""

    def __init__(self, path: str, welcomed: Welcomed, timeout: float) -> None:
        self.path = path
        self.epoch = welcomed.welcome.epoch
        self.token = welcomed.welcome.session
        self.timeout = timeout
        self._mark = ForkMark()
        self._socket = welcomed.socket
        self._memory = ring.Memory(welcomed.ring)
        self._request_event = welcomed.request_event
        self._answer_event = welcomed.answer_event
        self._manager = welcomed.manager
        self._requests = ring.Producer(self._memory, ring.REQUESTS, self.epoch)
        self._answers = ring.Consumer(self._memory, ring.ANSWERS)
        self._poll = select.poll()
        self._register_poll()
        self._received = bytearray()
        self._reason = ""
        # Guards what follows it, and the request ring; held for moments only.
        self._lock = _allocate_lock()
        self._sending = _allocate_lock()
        self._turn = _allocate_lock()  # its holder takes answers out, and may block
        self._pending: dict[int, Call] = {}
        self._next_id = 1
        self._owed: list[tuple[int, int, int]] = []  # commands to go with the next one
        self._sleepers: list[tuple[Awaited, Any]] = []
        self._for_room = 0
        self._lost: OrbitKVError | None = None
        self._unmapped = False
        self._resting = False  # an event loop sleeps, and wants to be woken
        self._manager_exited = False

    def _register_poll(self) -> None:
        for fd in (self._answer_event, self._socket.fileno(), self._manager):
            if fd is not None:
                self._poll.register(fd, select.POLLIN)

    # ---- state

    def check(self) -> None:
        """Raises if this session is another process's, or over."""
        if not self._mark.own():
            raise Forked()
        lost = self._lost
        if lost is not None:
            raise again(lost)

    def refuse_child(self) -> None:
        """Raises in a forked child, also when the session is over."""
        if not self._mark.own():
            raise Forked()

    def own(self) -> bool:
        """Whether this is the process that connected."""
        return self._mark.own()

    @property
    def standing(self) -> bool:
        """False for ever once the connection was lost or closed, and in a forked child."""
        return self._lost is None and self._mark.own()

    def manager_exited(self) -> bool:
        """Whether it is proven that the Manager's process has exited: never without its pidfd."""
        return self._manager is not None and self._mark.own() and not self.manager_alive()

    def manager_alive(self) -> bool:
        """Whether the Manager's process runs, by its pidfd; never blocks. Without a pidfd, as :attr:`standing`.

        After :meth:`end`: what was last seen.
        """
        if self._manager is None or not self._mark.own():
            return self.standing
        if not self._manager_exited and not self._unmapped:
            with self._lock:
                if not self._unmapped:
                    poll = select.poll()
                    poll.register(self._manager, select.POLLIN)
                    self._manager_exited = bool(poll.poll(0))
        return not self._manager_exited

    # ---- sending

    def submit(
        self,
        opcode: int,
        scalar0: int = 0,
        scalar1: int = 0,
        descriptor: bytes = b"",
        room_until: int | None = None,
        then: Callable[[Call], None] | None = None,
    ) -> Call:
        """Puts a command into the ring; waits while that is full. If it raises, the command never got in."""
        if not self._mark.own():
            raise Forked()
        call = Call(then)
        try:
            with self._lock:
                if self._lost is not None:
                    raise again(self._lost)
                call.id = self._next_id
                self._next_id += 1
                self._pending[call.id] = call
                offered = self._offer(opcode, call.id, scalar0, scalar1, descriptor)
            if not offered:
                self._submit_later(call, opcode, scalar0, scalar1, descriptor, room_until)
        except BaseException as e:
            with self._lock:
                self._pending.pop(call.id, None)
            if isinstance(e, Corrupt):
                self._lose(Corrupt(self._why(f"its {e}")))
            raise
        return call

    def tell_manager(self, opcode: int, scalar0: int, scalar1: int) -> None:
        """A command whose answer nobody needs, now or with the next one. Never blocks, never raises."""
        self.owe(opcode, scalar0, scalar1)
        if self.standing:
            self.flush()

    def owe(self, opcode: int, scalar0: int, scalar1: int) -> None:
        """As :meth:`tell_manager`, with the next command; for a finalizer, which may run while this thread has the lock."""
        self._owed.append((opcode, scalar0, scalar1))

    def frame(self, kind: Kind, body: bytes = b"", fds: tuple[int, ...] = ()) -> Call:
        """Sends a lifecycle frame."""
        self.check()
        call = Call()
        with self._lock:
            if self._lost is not None:
                raise again(self._lost)
            call.id = self._next_id
            self._next_id += 1
            self._pending[call.id] = call
        header = wire.FrameHeader(
            wire.VERSION, kind, len(body), wire.FRAME_MAGIC, len(fds), call.id, self.token, self.epoch
        ).encode()
        try:
            with self._sending:
                send_frame(self._socket, header + body, fds)
        except OSError as e:
            # Half a frame may be out, so this direction is over; whoever waits next hears the end and tells all.
            self._reason = self._reason or f"sending to it failed: {e.strerror}"
            self._shutdown()
        return call

    def _offer(self, opcode: int, call: int, scalar0: int, scalar1: int, descriptor: bytes) -> bool:
        if self._owed:
            self._pay()
        if not self._requests.offer(opcode, call, scalar0, scalar1, descriptor):
            return False
        if self._requests.consumer_sleeps():
            self._signal()
        return True

    def _pay(self) -> None:
        """By a holder of the lock: tells what is owed, as far as there is room."""
        while self._owed and self._lost is None:
            owed = self._owed[0]
            try:
                if not self._requests.offer(owed[0], self._next_id, owed[1], owed[2], b""):
                    return
            except Corrupt:
                return  # the next command tells
            self._next_id += 1
            self._owed.remove(owed)
            if self._requests.consumer_sleeps():
                self._signal()

    def _signal(self) -> None:
        try:
            os.eventfd_write(self._request_event, 1)
        except BlockingIOError:
            pass  # its counter is full, so it is signalled

    def _submit_later(
        self, call: Call, opcode: int, scalar0: int, scalar1: int, descriptor: bytes, until: int | None
    ) -> None:
        deadline = _now() + int(self.timeout * 1e9) if until is None else until
        room = _Room(self, len(descriptor))
        with self._lock:
            self._for_room += 1
            if not self._unmapped:
                self._requests.waits_for_room(True)
        try:
            while True:
                with self._lock:
                    if self._lost is not None:
                        raise again(self._lost)
                    if self._offer(opcode, call.id, scalar0, scalar1, descriptor):
                        return
                if not self.wait(room, deadline):
                    raise DeadlineExceeded(
                        f"Manager behind {self.path} takes no more commands; is it stopped, or busy? try again later"
                    )
        finally:
            with self._lock:
                self._for_room -= 1
                if self._for_room == 0 and not self._unmapped:
                    self._requests.waits_for_room(False)

    def _has_room(self, size: int) -> bool:
        with self._lock:
            return self._lost is not None or self._requests.has_room(size)

    # ---- waiting

    def wait(self, thing: Awaited, deadline: int) -> bool:
        """Waits until it is done; false at the deadline of ``time.perf_counter_ns()``."""
        parked = False
        try:
            while not thing.done:
                if not self._mark.own():
                    raise Forked()
                if self._turn.acquire(False):
                    try:
                        self._drive(thing, deadline)
                    finally:
                        self._turn.release()
                        if self._sleepers:
                            self._hand_on()
                else:
                    parked = True
                    self._park(thing, deadline)
                if _now() >= deadline:
                    break
        finally:
            # The turn may have been handed to this thread: also one that is interrupted hands it on.
            if parked and self._sleepers and not self._turn.locked():
                self._hand_on()
        return thing.done

    def pump(self) -> None:
        """Takes out what is there; never blocks."""
        if self.standing and self._turn.acquire(False):
            try:
                self._take_all()
                if self._poll_now():
                    self._take_all()
            finally:
                self._turn.release()
                if self._sleepers:
                    self._hand_on()

    def tell(self, call: Call, then: Callable[[Call], None]) -> None:
        """Has ``then`` called once it is done, now or by the thread that takes its answer out, which it must not block."""
        with self._lock:
            if not call.done:
                call.then = then
                return
        then(call)

    def _park(self, thing: Awaited, deadline: int) -> None:
        gate = _allocate_lock()
        gate.acquire()
        sleeper = (thing, gate)
        with self._lock:
            self._sleepers.append(sleeper)
        try:
            # The turn may have come free before this sleeper could be seen.
            if not thing.done and self._turn.locked():
                gate.acquire(True, min(max(0, deadline - _now()) / 1e9, 3600.0))
        finally:
            with self._lock:
                self._sleepers.remove(sleeper)

    def _hand_on(self) -> None:
        with self._lock:
            for _, gate in self._sleepers:
                if gate.locked():
                    gate.release()
                    return

    def _wake(self, thing: Awaited | None) -> None:
        """By a holder of the lock: wakes who waits for that, or everybody."""
        for sleeper, gate in self._sleepers:
            if (thing is None or sleeper is thing) and gate.locked():
                gate.release()

    def _drive(self, thing: Awaited, deadline: int) -> None:
        """By the holder of the turn, until that is done or the deadline."""
        worked = True
        while True:
            if self._take_all():
                worked = True
            if thing.done:
                return
            left = deadline - _now()
            if left <= 0:
                return
            if self._unmapped or not (worked and self._answers.poll()):
                self._sleep(thing, left)
            worked = False

    def _sleep(self, thing: Awaited, left: int) -> None:
        answers = self._answers
        answers.sleeping(True)
        try:
            if answers.ready() or thing.done:
                return
            events = self._poll.poll(min(left, BACKSTOP_NANOS) / 1e6)
        finally:
            answers.sleeping(self._resting)  # an event loop may sleep on
        if events:
            self._serve(events)
        elif left >= BACKSTOP_NANOS:
            self._signal()  # should the Manager be the one who missed a wake
        if self._for_room:
            with self._lock:
                self._wake(None)

    def _poll_now(self) -> bool:
        events = self._poll.poll(0)
        if events:
            self._serve(events)
        return bool(events)

    def _serve(self, events: list[tuple[int, int]]) -> None:
        exited = False
        for fd, _ in events:
            if fd == self._answer_event:
                try:
                    os.eventfd_read(fd)
                except BlockingIOError:
                    pass
            elif fd == self._manager:
                exited = True
            else:
                self._receive()
        if exited:
            self._receive()
            self._take_all()
            self._lose(ManagerLost(self._why("its process has exited")))

    def _why(self, reason: str) -> str:
        told = f": {self._reason}" if self._reason else ""
        return f"Manager behind {self.path} is lost, {reason}{told}; connect again once it runs"

    # ---- taking out

    def _take_all(self) -> bool:
        some = False
        if self._unmapped:
            return False
        try:
            answers = self._answers
            while (taken := answers.take()) is not None:
                some = True
                if answers.producer_waits():
                    self._signal()
                call = self._pending.pop(taken.request_id, None)
                if call is not None:
                    self._answered(call, taken)
        except Corrupt as e:
            self._lose(Corrupt(self._why(f"its {e}")))
        if some and self._owed:
            self.flush()
        return some

    def flush(self) -> None:
        """Tells what is owed, as far as there is room."""
        with self._lock:
            self._pay()

    def _answered(self, call: Call, taken: ring.Taken) -> None:
        if taken.version != wire.VERSION or taken.epoch != self.epoch:
            fault: OrbitKVError | None = Corrupt("Manager's answer is of another version or epoch; connect again")
        elif taken.opcode == Opcode.REFUSAL:
            fault = _refusal(taken)
        else:
            fault = None
        self._end(call, taken, fault)

    def _end(self, call: Call, answer: Any, fault: OrbitKVError | None) -> None:
        with self._lock:
            call.answer = answer
            call.fault = fault
            then = call.then
            call.done = True
            if self._sleepers:
                self._wake(call)
        if then is not None:
            then(call)

    def _receive(self) -> None:
        """Reads what the socket has; by the holder of the turn."""
        ended = False
        try:
            while not ended:
                data, fds, _, _ = receive(self._socket, 1 << 16, socket.MSG_DONTWAIT)
                close_all(fds)  # no frame behind WELCOME brings any
                self._received += data
                ended = not data
                self._frames()
        except BlockingIOError:
            pass
        except Corrupt as e:
            self._take_all()
            self._lose(Corrupt(self._why(str(e))))
        except OSError as e:
            self._take_all()
            self._lose(ManagerLost(self._why(f"receiving from it failed: {e.strerror}")))
        if ended:
            self._take_all()
            self._lose(ManagerLost(self._why("it closed the connection")))

    def _frames(self) -> None:
        received = self._received
        while len(received) >= wire.FRAME_BYTES:
            header = wire.FrameHeader.decode(received)
            if header.magic != wire.FRAME_MAGIC or header.body_bytes > wire.BODY_LIMIT:
                raise Corrupt("its bytes are no frames of this channel")
            end = wire.FRAME_BYTES + header.body_bytes
            if len(received) < end:
                return
            body = bytes(received[wire.FRAME_BYTES : end])
            del received[:end]
            if header.version != wire.VERSION:
                raise Corrupt(f"it sent a frame of version {header.version}, this client speaks {wire.VERSION}")
            if header.epoch != self.epoch or header.session != self.token or header.descriptors:
                raise Corrupt("it sent a frame of another session")
            self._frame(header, body)

    def _frame(self, header: wire.FrameHeader, body: bytes) -> None:
        fault = None
        if header.kind == Kind.REFUSED:
            code, text = wire.decode_refusal(body)
            fault = refused(code, f"Manager behind {self.path} refused: {text}")
            if header.request_id == 0:
                self._reason = text
                return
        call = self._pending.pop(header.request_id, None)
        if call is not None:
            self._end(call, (header.kind, body), fault)

    # ---- the end

    def _lose(self, fault: OrbitKVError) -> None:
        with self._lock:
            if self._lost is not None:
                return
            self._lost = fault
            failed = list(self._pending.values())
            self._pending.clear()
        self._shutdown()
        for call in failed:
            self._end(call, None, fault)
        with self._lock:
            self._wake(None)

    def _shutdown(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError as e:
            if e.errno not in (errno.ENOTCONN, errno.EBADF):
                raise

    def end(self, why: str) -> None:
        """Ends it for good: fails what is outstanding, waits for the thread that drives, unmaps the ring."""
        if not self._mark.own():
            return  # the child's copies of the descriptors go with the child
        self.manager_alive()
        closed = Closed(f"Manager behind {self.path}: {why}; connect again")
        self._lose(closed)
        self._turn.acquire()
        try:
            with self._lock:
                if self._unmapped:
                    return
                self._lost = closed
                self._unmapped = True
                self._memory.close()
            self._socket.close()
            for fd in (self._request_event, self._answer_event, self._manager):
                if fd is not None:
                    os.close(fd)
        finally:
            self._turn.release()

    # ---- for an event loop

    def descriptors(self) -> list[int]:
        """What an event loop watches for reading."""
        fds = (self._answer_event, self._socket.fileno(), self._manager)
        return [fd for fd in fds if fd is not None]

    def rest(self) -> bool:
        """By a loop that is about to sleep: asks for a wake. False if there is something to take out already."""
        if self._unmapped:
            return True
        self._resting = True
        self._answers.sleeping(True)
        return not self._answers.ready()

    def rested(self) -> None:
        """By a loop that waits for nothing any more."""
        self._resting = False

    def nudge(self) -> None:
        """Wakes the Manager, should a wake have been lost."""
        if self.standing:
            self._signal()


def _refusal(taken: ring.Taken) -> OrbitKVError:
    try:
        text = taken.descriptor[:1024].decode()
    except UnicodeDecodeError:
        return Corrupt("Manager's refusal is not UTF-8; both sides must be of one release")
    return refused(taken.scalar0 if taken.scalar0 <= Fault.INTERNAL else 0, text)
