"""From a socket's path to what a Manager gives: the greeting, the arenas, the ring."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any

from . import ring, wire
from ._native import Mapping, register_membarrier
from .errors import (
    Corrupt,
    DeadlineExceeded,
    Fault,
    ManagerUnavailable,
    OrbitKVError,
    SquattedSocket,
    WrongVersion,
    refused,
)
from .memory import Arena
from .wire import Kind

_SO_PEERPIDFD = 77
_RING_DESCRIPTORS = 3
_PLAN_DESCRIPTORS = 2


@dataclass
class Welcomed:
    """What a session has once it was welcomed. Whoever gets it owns all of it."""

    socket: socket.socket
    welcome: wire.Welcome
    arenas: list[Arena]
    ring: Mapping
    request_event: int
    answer_event: int
    manager: int | None
    plans: Arena | None
    claims: Arena | None

    def close(self) -> None:
        """Gives all of it back, where no session came of it."""
        self.socket.close()
        self.ring.close()
        close_all([fd for fd in (self.request_event, self.answer_event, self.manager) if fd is not None])
        for memory in (*self.arenas, self.plans, self.claims):
            if memory is not None:
                memory.close()


def run(path: str, instance: str, role: int, timeout: float, manager_uid: int | None) -> Welcomed:
    """Connects, checks whose process is behind the socket and introduces this one. On failure nothing stays open."""
    deadline = time.monotonic() + timeout
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    fds: list[int] = []
    try:
        sock.settimeout(timeout)
        _connect(sock, path)
        _check_user(sock, path, manager_uid)
        _register_membarrier()
        _greet(sock, instance, role)
        header, body, fds = _answer(sock, path, deadline)
        welcome = _welcome(path, header, body)
        sock.setblocking(True)
        bound = struct.pack("@ll", int(timeout), int(timeout % 1 * 1e6))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, bound)  # receiving never blocks from now on
        return _attach(sock, welcome, fds)
    except TimeoutError as e:
        sock.close()
        raise DeadlineExceeded(f"Manager behind {path} did not answer HELLO within {timeout} s; is it stopped?") from e
    except OrbitKVError:
        sock.close()
        raise
    except OSError as e:
        sock.close()
        raise _no_manager(path, e) from e
    except BaseException:
        sock.close()
        raise
    finally:
        close_all(fds)


def _connect(sock: socket.socket, path: str) -> None:
    if len(os.fsencode(path)) > 107:
        raise ValueError(f"socket path {path} of {len(os.fsencode(path))} bytes; the limit is 107")
    sock.connect(path)


def _no_manager(path: str, cause: OSError) -> OrbitKVError:
    return ManagerUnavailable(
        f"no Manager behind {path} ({cause.strerror or cause}); start one with orbitkv manager, or name its socket"
    )


def _credentials(sock: socket.socket) -> tuple[int, int]:
    pid, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return pid, uid


def _check_user(sock: socket.socket, path: str, manager_uid: int | None) -> None:
    _, uid = _credentials(sock)
    own = os.getuid()
    expected = uid in (own, 0) if manager_uid is None else uid == manager_uid
    if not expected:
        raise SquattedSocket(
            f"socket {path} is held by a process of user {uid}, not by a Manager of user"
            f" {own if manager_uid is None else manager_uid}; remove that process, or name its user as the Manager's"
        )


def _register_membarrier() -> None:
    try:
        register_membarrier()
    except OSError as e:
        raise OrbitKVError(
            f"this process may not use membarrier(2) ({e.strerror}), on which claims of plans depend; allow it in the"
            " seccomp profile of the container, or use Linux 4.16 or later",
            Fault.UNSUPPORTED,
        ) from e


def _greet(sock: socket.socket, instance: str, role: int) -> None:
    body = wire.encode_hello(instance, role)
    header = wire.FrameHeader(wire.VERSION, Kind.HELLO, len(body), wire.FRAME_MAGIC, 1, 0, 0, wire.NO_EPOCH)
    own = os.pidfd_open(os.getpid())
    try:
        send_frame(sock, header.encode() + body, (own,))
    except BrokenPipeError:
        pass  # a Manager that has refused and closed already can still be heard
    finally:
        os.close(own)


def _answer(sock: socket.socket, path: str, deadline: float) -> tuple[wire.FrameHeader, bytes, list[int]]:
    fds: list[int] = []
    data = bytearray()
    try:
        header = None
        while header is None or len(data) < wire.FRAME_BYTES + header.body_bytes:
            sock.settimeout(max(0.001, deadline - time.monotonic()))
            end = wire.FRAME_BYTES + (0 if header is None else header.body_bytes)
            part, came, _, _ = receive(sock, min(end - len(data), 1 << 16))
            fds += came
            if not part:
                raise ManagerUnavailable(
                    f"Manager behind {path} closed the connection; try again once it is running"
                )
            data += part
            if header is None and len(data) >= wire.FRAME_BYTES:
                header = wire.FrameHeader.decode(data)
                if header.magic != wire.FRAME_MAGIC or header.body_bytes > wire.BODY_LIMIT:
                    raise Corrupt(f"what answers behind {path} is no Manager of OrbitKV; name its socket")
        return header, bytes(data[wire.FRAME_BYTES :]), fds
    except BaseException:
        close_all(fds)
        raise


def _welcome(path: str, header: wire.FrameHeader, body: bytes) -> wire.Welcome:
    if header.kind == Kind.REFUSED:
        code, text = wire.decode_refusal(body)
        fault = refused(code, f"Manager behind {path} refused: {text}")
        if header.version != wire.VERSION:
            raise WrongVersion(str(fault))
        raise fault
    if header.version != wire.VERSION:
        raise WrongVersion(
            f"Manager behind {path} speaks protocol version {header.version}, this client {wire.VERSION};"
            " use the same release of OrbitKV on both sides"
        )
    if header.kind != Kind.WELCOME:
        raise Corrupt(f"Manager behind {path} answered HELLO with a frame of kind {header.kind}")
    welcome = wire.Welcome.decode(body)
    if welcome.session == 0:
        raise Corrupt(f"Manager behind {path} gave no session")
    return welcome


def _attach(sock: socket.socket, welcome: wire.Welcome, fds: list[int]) -> Welcomed:
    arenas = len(welcome.arenas)
    plans, claims = welcome.plans, welcome.claims
    if (plans is None) != (claims is None):
        raise Corrupt("WELCOME with plans and without claims, or the other way round")
    expected = arenas + _RING_DESCRIPTORS + (0 if plans is None else _PLAN_DESCRIPTORS)
    if len(fds) != expected:
        raise Corrupt(f"WELCOME with {arenas} arenas and {len(fds)} file descriptors, {expected} were announced")
    _check_layout("ring", welcome.ring, (ring.RING_VERSION, ring.RING_BYTES))
    mapped: list[Any] = []
    events: list[int] = []
    try:
        for offer, fd in zip(welcome.arenas, fds):
            mapped.append(Arena(_map("arena", fd, offer.bytes, writable=False)))
        memory = _map("ring", fds[arenas], ring.RING_BYTES, writable=True)
        mapped.append(memory)
        if plans is not None and claims is not None:
            _check_layout("plans", plans[:2], (wire.PLANS_VERSION, wire.PLANS_BYTES))
            _check_layout("claims", claims, (wire.PLANS_VERSION, wire.CLAIMS_BYTES))
            mapped.append(Arena(_map("plans", fds[arenas + 3], wire.PLANS_BYTES, writable=False)))
            mapped.append(Arena(_map("claims", fds[arenas + 4], wire.CLAIMS_BYTES, writable=True)))
        for fd in fds[arenas + 1 : arenas + 3]:
            events.append(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 0))
            os.set_blocking(events[-1], False)
        both = mapped[arenas + 1 :] or [None, None]
        return Welcomed(sock, welcome, mapped[:arenas], memory, events[0], events[1], _pidfd(sock), *both)
    except BaseException:
        for mapping in mapped:
            mapping.close()
        close_all(events)
        raise


def _check_layout(what: str, offered: tuple[int, ...], known: tuple[int, int]) -> None:
    if tuple(offered) != known:
        raise WrongVersion(
            f"{what} of layout version {offered[0]} and {offered[1]} bytes, this client knows version {known[0]} of"
            f" {known[1]} bytes; use the same release of OrbitKV on both sides"
        )


def _map(what: str, fd: int, size: int, writable: bool) -> Mapping:
    try:
        seals = fcntl.fcntl(fd, fcntl.F_GET_SEALS)
    except OSError as e:
        raise Corrupt(f"{what} of WELCOME is no memfd") from e
    if not seals & fcntl.F_SEAL_SHRINK or not 0 < size <= os.fstat(fd).st_size:
        raise Corrupt(f"{what} of WELCOME is short, or not sealed against shrinking")
    return Mapping(fd, size, writable)


def _pidfd(sock: socket.socket) -> int | None:
    try:
        return sock.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError:
        pass
    try:
        return os.pidfd_open(_credentials(sock)[0])
    except (OSError, OverflowError):
        return None  # as in another pid namespace; the socket's end still tells


def send_frame(sock: socket.socket, data: bytes, fds: tuple[int, ...] = ()) -> None:
    """Sends all of it, the descriptors with the first byte."""
    ancillary = []
    if fds:
        ancillary.append((socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(fds)}i", *fds)))
    done = sock.sendmsg([data], ancillary, socket.MSG_NOSIGNAL)
    if done < len(data):
        sock.sendall(data[done:], socket.MSG_NOSIGNAL)


def receive(sock: socket.socket, size: int, flags: int = 0) -> tuple[bytes, list[int], int, Any]:
    """``recvmsg`` with descriptors; they are the caller's to close."""
    data, ancillary, flags, address = sock.recvmsg(size, socket.CMSG_SPACE(16 * 4), flags | socket.MSG_CMSG_CLOEXEC)
    fds: list[int] = []
    for level, kind, raw in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.extend(struct.unpack(f"{len(raw) // 4}i", raw[: len(raw) // 4 * 4]))
    return data, fds, flags, address


def close_all(fds: list[int]) -> None:
    """Closes descriptors that nobody asked for."""
    for fd in fds:
        os.close(fd)
