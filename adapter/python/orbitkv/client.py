"""The client: a session of this process with the Manager of its host."""

from __future__ import annotations

import _thread
import fcntl
import json
import mmap
import os
import time
import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Sequence, Union

from . import bootstrap, config, wire
from .errors import (
    ConfigError,
    Corrupt,
    DeadlineExceeded,
    Fault,
    ManagerLost,
    OrbitKVError,
    Refused,
    SaveNotSubmitted,
)
from .lease import Block, Lease, Source
from .memory import RegisteredMemory, populate
from .restore import CANCELLED, EVIDENCE, OBSERVED, Claim, Claims, Observation, Plan, PlanBlock
from .ring import Taken
from .session import FOREVER_NANOS, Call, Session
from .wire import BlockName, Kind, Opcode

ROLES = {"scheduler": 1, "worker": 2, "tool": 3}
MAX_DEADLINE = 3600.0

Name = Union[BlockName, "tuple[str, bytes]"]

_now = time.perf_counter_ns


@dataclass(frozen=True)
class Piece:
    """A block to publish: a range of registered memory, and the name it gets."""

    name: Name
    memory: RegisteredMemory
    offset: int
    bytes: int


@dataclass(frozen=True)
class PublishResult:
    """What became of one piece: ``status`` is "stored", "present" (nothing was copied) or "fault"."""

    name: BlockName
    status: str
    fault: Fault | None = None
    detail: str | None = None


@dataclass(frozen=True)
class Activity:
    """What a client's publishes are doing; see :meth:`Client.activity`."""

    active: int
    """Publishes that were submitted and have not ended."""
    retained: int
    """Bytes of the ranges that must not be written yet: of these, and of those whose fate is unknown."""
    overdue: int
    """Active ones that were submitted longer ago than the client's timeout."""
    manager_alive: bool
    """Whether the Manager's process runs."""


class PublishBudget:
    """The publishes of this process that have not ended: so many, with so many bytes of metadata."""

    MOST = 1024
    MOST_BYTES = 32 << 20

    def __init__(self) -> None:
        os.register_at_fork(after_in_child=self._reset)
        self._reset()

    def _reset(self) -> None:
        self._lock = _thread.allocate_lock()
        self._taken = self._bytes = 0

    def take(self, size: int) -> None:
        """Counts one more, or raises."""
        with self._lock:
            if self._taken < self.MOST and self._bytes + size <= self.MOST_BYTES:
                self._taken += 1
                self._bytes += size
                return
        raise SaveNotSubmitted(
            f"publish was not submitted: {self._taken} with {self._bytes} bytes of metadata have not ended, the limits"
            f" of a process are {self.MOST} and {self.MOST_BYTES}; wait for one first",
            Fault.EXHAUSTED,
        )

    def give(self, size: int) -> None:
        """One has ended."""
        with self._lock:
            self._taken -= 1
            self._bytes -= size


budget = PublishBudget()


class Publication:
    """A publish that was submitted. Its ranges must not be written before it has ended; no clock ends it."""

    def __init__(self, client: "Client", pieces: Sequence[Piece], call: Call) -> None:
        self._client = client
        self._pieces = tuple(pieces)
        self._call = call
        self._overdue_at = _now() + int(client._timeout * 1e9)

    @property
    def pending(self) -> bool:
        """Whether it has not ended, as far as is known without blocking."""
        if not self._call.done:
            self._client._session.pump()
        return not self._call.done

    @property
    def retained(self) -> bool:
        """Whether its ranges must not be written yet, since the Manager may be copying. Never blocks.

        After a session that was lost this stays so until the Manager's process has exited.
        """
        return self.pending or (self._fate_unknown and not self._client._session.manager_exited())

    @property
    def overdue(self) -> bool:
        """Whether it has not ended within the client's timeout. Never blocks."""
        return self.pending and _now() >= self._overdue_at

    @property
    def manager_alive(self) -> bool:
        """Whether the Manager's process runs. Never blocks."""
        return self._client.peer_alive()

    @property
    def bytes(self) -> int:
        """Of its ranges."""
        return sum(piece.bytes for piece in self._pieces)

    @property
    def _fate_unknown(self) -> bool:
        fault = self._call.fault
        return fault is not None and not isinstance(fault, Refused)

    def wait(self, timeout: float | None = None) -> list[PublishResult] | None:
        """Waits for its end.

        :param timeout: seconds; None waits for as long as it takes
        :return: one result a piece, in order; **None while it is pending**: it goes on, and can be waited for again
        :raises Refused: the Manager refused the whole, before it copied anything
        :raises ManagerLost: the session ended first; whether blocks were stored is unknown
        """
        call = self._call
        if not call.done:
            self._client._session.refuse_child()
            deadline = _now() + (FOREVER_NANOS if timeout is None else int(timeout * 1e9))
            if not self._client._session.wait(call, deadline):
                return None
        return self._results(call.result())

    def _results(self, taken: Taken) -> list[PublishResult]:
        _expect(taken, Opcode.PUBLISH_ANSWER)
        entries = wire.decode_results(taken.descriptor)
        if len(entries) != len(self._pieces):
            raise Corrupt(f"Manager's answer: {len(entries)} results for {len(self._pieces)} blocks")
        results = []
        for piece, entry in zip(self._pieces, entries):
            name = BlockName(*piece.name)
            if entry.status in (1, 2):
                results.append(PublishResult(name, "stored" if entry.status == 1 else "present"))
            else:
                results.append(PublishResult(name, "fault", entry.fault, entry.text))
        return results


class Client:
    """A session with the Manager of this host. Thread-safe; made by :func:`connect`.

    No thread of it lasts: who waits takes answers out of the shared memory, for all threads. Only a worker's begins with
    one, which maps the pages of the Manager's memory so that no copy has to, and ends with that or with the client. A
    lost connection ends all waits at once with :class:`ManagerLost` and is final. Not to be used in a forked child:
    every call raises :class:`Forked` there.
    """

    def __init__(self, path: str, instance: str, role: int, timeout: float, manager_uid: int | None) -> None:
        welcomed = bootstrap.run(path, instance, role, timeout, manager_uid)
        self._arenas = welcomed.arenas
        self._plan_memory = [memory for memory in (welcomed.plans, welcomed.claims) if memory is not None]
        self._claims: Claims | None = None
        try:
            self._session = Session(path, welcomed, timeout)
            if welcomed.plans is not None and welcomed.claims is not None and welcomed.welcome.plans is not None:
                first = welcomed.welcome.plans.first_generation
                self._claims = Claims(self._session, self._arenas, welcomed.plans, welcomed.claims, first)
        except BaseException:
            welcomed.close()
            raise
        self._operations = 0
        self._timeout = timeout
        self._lock = _thread.allocate_lock()
        self._closed = False
        self._leases: "weakref.WeakSet[Lease]" = weakref.WeakSet()
        self._queries: set[Call] = set()
        self._publications: dict[Call, Publication] = {}
        self._costs: dict[Call, int] = {}
        if role == ROLES["worker"]:
            populate(self._arenas)

    # ---- state

    @property
    def socket_path(self) -> str:
        """The socket it is connected to."""
        return self._session.path

    @property
    def manager_epoch(self) -> str:
        """The identity of the Manager's incarnation, 32 hexadecimal digits."""
        return self._session.epoch.hex()

    @property
    def session(self) -> int:
        """The token of this session, as the Manager's state names it."""
        return self._session.token

    @property
    def connected(self) -> bool:
        """Whether the session stands, as far as is known without asking; once false it stays so. Never blocks."""
        return self._session.standing

    def peer_alive(self) -> bool:
        """Whether the Manager's process runs, by its pidfd, whatever became of the socket. Never blocks."""
        return self._session.manager_alive()

    def activity(self) -> Activity:
        """What the publishes of this client are doing. Never blocks."""
        self._session.pump()
        alive = self.peer_alive()
        now = _now()
        known = list(self._publications.items())
        active = [publication for call, publication in known if not call.done]
        return Activity(
            len(active),
            sum(publication.bytes for call, publication in known if not call.done or alive),
            sum(now >= publication._overdue_at for publication in active),
            alive,
        )

    def ping(self) -> None:
        """Asks the Manager for an answer and waits for it: one round trip of the channel."""
        session = self._session
        call = session.submit(Opcode.PING)
        if not session.wait(call, _now() + int(self._timeout * 1e9)):
            raise self._late("ping", self._timeout)
        _expect(call.result(), Opcode.PONG)

    def status(self) -> dict[str, Any]:
        """The Manager's state."""
        body = self._control("status", Kind.STATUS, Kind.STATUS_TEXT)
        try:
            return dict(json.loads(body))
        except ValueError as e:
            raise Corrupt("Manager's state is no JSON object; both sides must be of one release") from e

    def health(self) -> str:
        """ "open" or "closing"."""
        body = self._control("health", Kind.HEALTH, Kind.HEALTH_STATE)
        return "open" if body == b"\1\0\0\0" else "closing"

    # ---- memory

    def register(self, memory: int | None = None, *, fd: int | None = None, offset: int = 0) -> RegisteredMemory:
        """Memory that the Manager may read, registered.

        :param memory: its length in bytes; without ``fd`` it is new and zero
        :param fd: a memfd sealed with F_SEAL_SHRINK, which stays the caller's; of it ``memory`` bytes, or all of them,
            from ``offset`` on, which is a multiple of the page size
        """
        self._session.check()
        own = -1
        try:
            if fd is None:
                if memory is None or memory < 1:
                    raise ValueError("register needs the length of new memory, at least 1 byte, or a memfd")
                fd = own = os.memfd_create("orbitkv-engine", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
                os.ftruncate(own, memory)
                fcntl.fcntl(own, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
            size = os.fstat(fd).st_size - offset if memory is None else memory
            mapping = mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=offset)
            try:
                body = self._control(
                    "register", Kind.REGISTER, Kind.REGISTERED, wire.encode_host_memory(offset, size), (fd,)
                )
                return RegisteredMemory(self, mapping, *wire.decode_registration(body))
            except BaseException:
                mapping.close()
                raise
        finally:
            if own >= 0:
                os.close(own)

    def _unregister(self, registration: tuple[int, int]) -> None:
        if not self._session.own() or not self._session.standing:
            return
        try:
            self._control("unregister", Kind.UNREGISTER, Kind.UNREGISTERED, wire.encode_registration(*registration))
        except OrbitKVError as e:
            if e.fault is not Fault.PEER_LOST:
                raise

    # ---- publish

    def publish(
        self, pieces: Sequence[Piece], *, digest: bool = False, room_timeout: float | None = None
    ) -> Publication:
        """Publishes blocks. Returns at once, but that a full ring holds it.

        :param pieces: 1 to 16,384, of memory of this client; their ranges must not be written before the end
        :param digest: whether the Manager takes a CRC32C of each, which others compare that fetch it
        :param room_timeout: seconds that a full ring may hold it, 0 for none; by default the client's timeout
        :raises SaveNotSubmitted: the Manager provably never saw it, and the ranges are the caller's again
        """
        call = self.submit_publish(pieces, digest, _room_until(room_timeout))
        return self.track(Publication(self, pieces, call))

    def track(self, publication: "Publication") -> "Publication":
        """Counts it as active until it has ended."""
        self._publications[publication._call] = publication
        if publication._call.done:
            self.forget_publication(publication._call)
        return publication

    def submit_publish(self, pieces: Sequence[Piece], digest: bool, room_until: int | None = None) -> Call:
        """Sends a publish; for the front of an event loop."""
        for memory in {piece.memory for piece in pieces}:
            if memory.client is not self:
                raise ValueError("a block is in memory of another client; publish it there")
            memory.buffer  # raises if it was closed
        entries = [(*piece.memory.registration, piece.offset, piece.bytes, piece.name) for piece in pieces]
        descriptor = wire.encode_pieces(entries)
        self._session.refuse_child()
        budget.take(len(descriptor))
        try:
            call = self._session.submit(
                Opcode.PUBLISH, 1 if digest else 0, 0, descriptor, room_until, self.forget_publication
            )
        except BaseException as e:
            budget.give(len(descriptor))
            if not isinstance(e, OrbitKVError):
                raise
            raise SaveNotSubmitted(f"publish of {len(entries)} blocks was not submitted: {e}", e.fault) from e
        self._costs[call] = len(descriptor)
        if call.done:
            self.forget_publication(call)
        return call

    def forget_publication(self, call: Call) -> None:
        """It has ended; one whose fate is unknown is still retained while the Manager's process runs."""
        cost = self._costs.pop(call, None)
        if cost is not None:
            budget.give(cost)
        if call.fault is None or isinstance(call.fault, Refused):
            self._publications.pop(call, None)

    # ---- query

    def query(
        self,
        names: Sequence[Name],
        *,
        fetch: bool = False,
        stop_at_first_miss: bool = False,
        timeout: float = 10.0,
    ) -> Lease:
        """Asks for blocks and waits for what is there.

        :param names: at most 65,536
        :param fetch: whether the Manager fetches missing blocks from its peers
        :param stop_at_first_miss: the answer ends before the first name that is missing
        :param timeout: seconds until the Manager answers with what is there by then, 1 hour at most
        :return: what was found, possibly nothing; the caller closes it
        :raises DeadlineExceeded: no answer at all; what comes later is released
        """
        call = self.submit_query(names, fetch, stop_at_first_miss, timeout)
        try:
            self._session.wait(call, _now() + int((timeout + self._timeout) * 1e9))
        except BaseException:
            self.abandon_query(call)
            raise
        if not call.done:
            self.abandon_query(call)
            raise self._late("query", timeout + self._timeout)
        return self.lease(call, names)

    def submit_query(
        self, names: Sequence[Name], fetch: bool, prefix: bool, timeout: float, room_until: int | None = None
    ) -> Call:
        """Sends a query; :meth:`lease` or :meth:`abandon_query` ends it."""
        call = self._query(names, (1 if fetch else 0) | (2 if prefix else 0), timeout, room_until)
        self._queries.add(call)
        if self._closed and not call.done:
            self.abandon_query(call)
        return call

    def _query(self, names: Sequence[Name], flags: int, timeout: float, room_until: int | None) -> Call:
        _check_deadline(timeout)
        descriptor = wire.encode_names(names)
        return self._session.submit(Opcode.QUERY, max(1, int(timeout * 1e9)), flags, descriptor, room_until)

    def _blocks(self, entries: Sequence[wire.BlockEntry], names: Sequence[Name]) -> list[Block]:
        blocks = []
        for entry in entries:
            if entry.name_index >= len(names):
                raise Corrupt(f"Manager's answer: block {entry.name_index} of {len(names)}")
            blocks.append(Block(entry.name_index, BlockName(*names[entry.name_index]), entry.size, entry.fetched))
        return blocks

    def lease(self, call: Call, names: Sequence[Name]) -> Lease:
        """What an answered query found."""
        self._queries.discard(call)
        taken = call.result()
        _expect(taken, Opcode.QUERY_ANSWER)
        try:
            entries = wire.decode_blocks(taken.descriptor)
            blocks = self._blocks(entries, names)
            source = Source(self._arenas, entries)
        except Corrupt:
            self._release_late(call)
            raise
        lease = Lease(self._session, taken.scalar0, _now() + min(taken.scalar1, FOREVER_NANOS), blocks, source)
        lease.generations = tuple(entry.generation for entry in entries)
        if lease._number:
            with self._lock:
                self._leases.add(lease)
                closed = self._closed
            if closed:
                lease.close()
        return lease

    def abandon_query(self, call: Call) -> None:
        """Nobody waits for that answer any more; its lease is released when it comes."""
        self._session.tell(call, self._release_late)

    def candidates(self, names: Sequence[Name], *, stop_at_first_miss: bool = False) -> list[Block]:
        """Which blocks this Manager holds now. Nothing is pinned: any of them may be gone when it is asked for."""
        return self._metadata(names, 16 | (2 if stop_at_first_miss else 0), self._timeout)

    def warm_up(self, names: Sequence[Name], *, stop_at_first_miss: bool = False, timeout: float = 10.0) -> list[Block]:
        """Has the Manager fetch what is missing from its peers. Nothing is pinned when this returns."""
        return self._metadata(names, 9 | (2 if stop_at_first_miss else 0), timeout)

    def submit_warm_up(
        self,
        names: Sequence[Name],
        *,
        stop_at_first_miss: bool = False,
        timeout: float = 10.0,
        room_timeout: float | None = None,
    ) -> Call:
        """As :meth:`warm_up`, without waiting: its ``done`` says when it has been answered. It needs no end."""
        return self._query(names, 9 | (2 if stop_at_first_miss else 0), timeout, _room_until(room_timeout))

    def _metadata(self, names: Sequence[Name], flags: int, timeout: float) -> list[Block]:
        call = self._query(names, flags, timeout, None)
        if not self._session.wait(call, _now() + int((timeout + self._timeout) * 1e9)):
            raise self._late("query", timeout + self._timeout)
        taken = call.result()
        _expect(taken, Opcode.QUERY_ANSWER)
        return self._blocks(wire.decode_blocks(taken.descriptor), names)

    # ---- plans

    def submit_promise(
        self,
        names: Sequence[Name],
        *,
        fetch: bool = False,
        stop_at_first_miss: bool = False,
        timeout: float = 10.0,
        redeemers: int = 0,
        room_timeout: float | None = None,
    ) -> Call:
        """Asks for a promise of blocks: pinned without expiry, for any session of this instance to claim.

        Does not wait for the answer: its ``done`` is true after a :meth:`pump` (or another call) has taken that out.
        End it with :meth:`plan` or :meth:`abandon_promise`.

        :param names, fetch, stop_at_first_miss, timeout: as of :meth:`query`
        :param redeemers: how many sessions will claim it, 1 to 64; 0 for as many workers as the instance has now
        :param room_timeout: seconds that a full ring may hold it, 0 for none; by default the client's timeout
        """
        if not 0 <= redeemers <= 64:
            raise ValueError(f"{redeemers} redeemers; allowed are 0 to 64")
        flags = 4 | (1 if fetch else 0) | (2 if stop_at_first_miss else 0) | redeemers << 8
        return self._query(names, flags, timeout, _room_until(room_timeout))

    def plan(self, call: Call) -> Plan | None:
        """The plan that an answered call brought; None if nothing was found. Raises a refusal.

        :raises ValueError: if it is not answered yet
        """
        if not call.done:
            raise ValueError("this call is not answered yet; pump() until it is done")
        taken = call.result()
        if taken.opcode == Opcode.QUERY_ANSWER and taken.scalar0 == 0:
            return None
        _expect(taken, Opcode.PLAN)
        blocks = [PlanBlock(entry.name_index, entry.size) for entry in wire.decode_blocks(taken.descriptor)]
        return Plan(self, taken.scalar0, taken.scalar1, blocks)

    def abandon_promise(self, call: Call) -> None:
        """Nobody waits for that plan: it is cancelled, now or when it comes. Never blocks, never raises."""
        if not call.done:
            self._session.tell_manager(Opcode.CANCEL, call.id, 0)
        self._queries.add(call)
        self._session.tell(call, self._cancel_late)

    def _cancel_late(self, call: Call) -> None:
        self._queries.discard(call)
        if call.fault is None and call.answer.opcode == Opcode.PLAN:
            self._session.tell_manager(Opcode.CANCEL_PLAN, call.answer.scalar0, call.answer.scalar1)

    def promise(
        self,
        names: Sequence[Name],
        *,
        fetch: bool = False,
        stop_at_first_miss: bool = False,
        timeout: float = 10.0,
        redeemers: int = 0,
    ) -> Plan | None:
        """As :meth:`submit_promise`, and waits. None if nothing was found."""
        call = self.submit_promise(
            names, fetch=fetch, stop_at_first_miss=stop_at_first_miss, timeout=timeout, redeemers=redeemers
        )
        return self._await_plan(call, "promise", timeout)

    def restore(
        self, lease: Lease, indexes: Sequence[int] | None = None, *, timeout: float = 10.0, redeemers: int = 0
    ) -> Plan:
        """Makes a plan of blocks of a lease, and uses that up: no copy under it may begin any more.

        :param indexes: of ``lease.blocks``; None for all
        :raises Refused: the lease is as it was
        """
        if lease._session is not self._session:
            raise ValueError("this lease is of another client; restore it there")
        _check_deadline(timeout)
        chosen = lease.generations if indexes is None else [lease.generations[index] for index in indexes]
        descriptor = wire.encode_restore(int(timeout * 1e9), redeemers, chosen)
        lease.begin_restore()
        with self._lock:
            self._operations += 1
            operation = self._operations

        told = False

        def answered(call: Call) -> None:
            nonlocal told
            if not told:
                told = True
                lease.end_restore(call.fault is None and call.answer.opcode == Opcode.PLAN)

        try:
            call = self._session.submit(Opcode.RESTORE, lease._number, operation, descriptor, then=answered)
        except BaseException:
            lease.end_restore(False)
            raise
        plan = self._await_plan(call, "restore", timeout, answered)
        if plan is None:
            raise Corrupt("Manager answered a restore without a plan; both sides must be of one release")
        return plan

    def _await_plan(
        self, call: Call, what: str, timeout: float, also: Callable[[Call], None] | None = None
    ) -> Plan | None:
        def late(call: Call) -> None:
            if also is not None:
                also(call)
            self._cancel_late(call)

        given_up = True
        try:
            given_up = not self._session.wait(call, _now() + int((timeout + self._timeout) * 1e9))
        finally:
            if given_up:
                # It may be answered just now: then its plan is cancelled all the same, and not returned.
                self._session.tell_manager(Opcode.CANCEL, call.id, 0)
                self._queries.add(call)
                self._session.tell(call, late)
        if given_up:
            raise self._late(what, timeout + self._timeout)
        return self.plan(call)

    def claim(self, record: int, generation: int) -> Claim:
        """Claims a plan of this instance, told to this session or to another one. Works when the Manager has died.

        :raises StaleEpoch: it is older than this session, or this session has claimed or given it up before
        :raises LeaseEnded: it was revoked, or has ended
        """
        return self._claims_of_session().claim(record, generation)

    def cancel_plan(self, record: int, generation: int) -> str:
        """Revokes a plan for all sessions, and gives it up in this one.

        :return: "won": nobody copies for it or will; "active": a session copies, and pages that it fills are busy
            until a later call says "ended"; "ended" before; "unknown". Without a connection it is local, and says
            nothing of the other sessions: "given up" here, or "active" here. Pages are free once every session of the
            instance has said so, or exited
        """
        own = self._claims_of_session().give_up(record, generation)
        try:
            return CANCELLED.get(self._ask(Opcode.CANCEL_PLAN, record, generation).scalar0, "unknown")
        except ManagerLost:
            return "given up" if own else "active"

    def revise(self, record: int, generation: int, keep: int) -> Plan | str:
        """Keeps the first so many blocks of a promise, and gives the others up.

        :return: the plan that takes its place, under new numbers; or, if a session copies for the old one, what
            :meth:`cancel_plan` would have said of it
        """
        if not 0 <= keep <= wire.NAMES_LIMIT:
            raise ValueError(f"{keep} blocks to keep of a plan; allowed are 0 to {wire.NAMES_LIMIT}")
        call = self._session.submit(Opcode.REVISE, record, generation, wire.encode_revision(keep))
        if not self._session.wait(call, _now() + int(self._timeout * 1e9)):
            self._session.tell(call, self._cancel_late)
            raise self._late("revise", self._timeout)
        taken = call.result()
        if taken.opcode == Opcode.CANCEL_PLAN_ANSWER:
            return CANCELLED.get(taken.scalar0, "unknown")
        plan = self.plan(call)
        if plan is None:
            raise Corrupt("Manager answered a revision without a plan; both sides must be of one release")
        return plan

    def observe(self, record: int, generation: int) -> Observation:
        """What the Manager knows of a plan."""
        answer = self._ask(Opcode.OBSERVE, record, generation)
        evidence = frozenset(name for bit, name in EVIDENCE.items() if answer.scalar1 >> bit & 1)
        return Observation(OBSERVED.get(answer.scalar0, "unknown"), evidence)

    def _ask(self, opcode: Opcode, scalar0: int, scalar1: int) -> Taken:
        call = self._session.submit(opcode, scalar0, scalar1)
        if not self._session.wait(call, _now() + int(self._timeout * 1e9)):
            raise self._late(opcode.name, self._timeout)
        taken: Taken = call.result()
        _expect(taken, Opcode(opcode | 0x8000))
        return taken

    def _claims_of_session(self) -> Claims:
        self._session.refuse_child()
        if self._claims is None:
            raise Refused(Fault.UNSUPPORTED, f"Manager behind {self.socket_path} offers no plans; use its next release")
        return self._claims

    def refuse_child(self) -> None:
        """Raises in a forked child."""
        self._session.refuse_child()

    def pump(self) -> None:
        """Takes out the answers that are there. Never blocks, never raises in the process that connected."""
        self._session.refuse_child()
        self._session.pump()

    # ---- the end of a query

    def _release_late(self, call: Call) -> None:
        self._queries.discard(call)
        answer = call.answer
        if call.fault is None and answer.opcode == Opcode.QUERY_ANSWER and answer.scalar0:
            self._session.tell_manager(Opcode.RELEASE, answer.scalar0, 0)

    # ---- the end

    def close(self) -> None:
        """Releases the leases, ends the session, unmaps the arenas once no copy is under way.

        Waits for queries that are under way, whose leases it releases, and for the Manager's last answer, for the
        client's timeout each. Registered memory is unmapped by its own ``close()``. A second call does nothing.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            leases = list(self._leases)
        if not self._session.own():
            return
        try:
            for lease in leases:
                lease.close()
            # The Manager takes nothing behind CLOSE: no release of a lease, nor cancel of a plan, that comes later.
            deadline = _now() + int(self._timeout * 1e9)
            for call in list(self._queries):
                self._session.wait(call, deadline)
            if self._session.standing:
                self._session.flush()
                self._control("close", Kind.CLOSE, Kind.CLOSED)
        except OrbitKVError:
            pass  # the session is over whether or not the Manager said so; leases end with this process
        finally:
            self._session.end("this client was closed")
            for memory in (*self._arenas, *self._plan_memory):
                memory.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _control(
        self, what: str, kind: Kind, expected: Kind, body: bytes = b"", fds: tuple[int, ...] = ()
    ) -> bytes:
        call = self._session.frame(kind, body, fds)
        if not self._session.wait(call, _now() + int(self._timeout * 1e9)):
            raise self._late(what, self._timeout)
        answered, answer = call.result()
        if answered != expected:
            raise Corrupt(f"{what} was answered by a frame of kind {answered}; both sides must be of one release")
        return bytes(answer)

    def _late(self, what: str, timeout: float) -> DeadlineExceeded:
        return DeadlineExceeded(f"{what}: no answer from Manager behind {self.socket_path} within {timeout} s")


def _room_until(timeout: float | None) -> int | None:
    return None if timeout is None else _now() + int(timeout * 1e9)


def _check_deadline(timeout: float) -> None:
    if not 0 < timeout <= MAX_DEADLINE:
        raise ValueError(f"deadline of {timeout} s must be positive and at most {MAX_DEADLINE} s")


def _expect(taken: Taken, opcode: Opcode) -> None:
    if taken.opcode != opcode:
        raise Corrupt(f"Manager's answer has opcode {taken.opcode:#06x}, not {opcode:#06x}; use one release")


def connect(
    socket_path: str | os.PathLike[str] | None = None,
    *,
    instance: str | None = None,
    role: str = "tool",
    timeout: float = 10.0,
    manager_uid: int | None = None,
) -> Client:
    """Connects to the Manager of this host.

    :param socket_path: of the Manager's socket; by default the one that the file of ``ORBITKV_CHANNEL_CONFIG`` names,
        and with that file no other is used
    :param instance: id of the engine instance that this process belongs to, 1 to 64 bytes; by default the file's, or
        this process's own
    :param role: what this process is in it: "scheduler", "worker" or "tool"
    :param timeout: seconds that connecting and control calls wait for the Manager
    :param manager_uid: the only user whose process may be behind the socket; by default this process's own and root
    :raises ManagerUnavailable: no Manager answers behind the socket
    :raises WrongVersion: it speaks another version; both are named
    :raises SquattedSocket: somebody else holds the socket
    :raises Refused: the Manager refused, as when it has no free session
    """
    domain = config.of_process()
    if socket_path is None:
        if domain is None:
            raise ConfigError(f"{config.VARIABLE} is not set; set it, or name the Manager's socket")
        socket_path = domain.socket
    path = os.fspath(socket_path)
    if domain is not None:
        domain.check(path)
        manager_uid = manager_uid if domain.manager_uid is None else domain.manager_uid
        instance = domain.instance if instance is None else instance
    name = f"process-{os.getpid()}" if instance is None else instance
    if not 1 <= len(name.encode()) <= 64:
        raise ValueError(f"instance id of {len(name.encode())} bytes; allowed are 1 to 64")
    if role not in ROLES:
        raise ValueError(f"role {role!r} is none of {', '.join(ROLES)}")
    if timeout <= 0:
        raise ValueError(f"client timeout of {timeout} s must be positive")
    client = Client(path, name, ROLES[role], timeout, manager_uid)
    if domain is not None:
        try:
            domain.check(path)
        except ConfigError:
            client.close()
            raise
    return client
