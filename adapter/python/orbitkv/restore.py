"""Plans: what the Manager has pinned for an engine instance, and how a session claims and copies it.

Two words say who may copy and who has stopped: the Manager's, which this process can only read, and this session's
own, in memory that nobody else writes. Order and meaning are those of docs/protocol/restore-record.md, which is
binding. Each word is loaded and stored by one aligned native access of eight bytes (ctypes).
"""

from __future__ import annotations

import _thread
import ctypes
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Sequence

from . import wire
from ._native import WEAKLY_ORDERED, fence, memcpy
from .errors import Corrupt, Fault, LeaseEnded, OrbitKVError, Refused, StaleEpoch
from .lease import Source
from .memory import Arena
from .wire import Opcode

if TYPE_CHECKING:
    from .session import Session

RECORDS = 1024
MAX_GENERATION = (1 << 56) - 1

GRANTED = 0x11
ACTIVE, PART_DRAINED, DRAINED, FAILED = 1, 2, 3, 4

_RECORDS_AT, _RECORD_BYTES = 4096, 192
_BANK_AT, _BANK_BLOCKS, _BANK_BLOCK_BYTES = 200_704, 32_768, 32
_MAGIC = b"OKVP"

OBSERVED = {
    1: "granted",
    2: "active",
    3: "revoked",
    4: "ended whole",
    5: "ended in part",
    6: "ended unused",
    7: "quarantined",
    8: "ended, forgotten",
    9: "unknown",
}
CANCELLED = {1: "won", 2: "active", 3: "ended", 4: "unknown"}
EVIDENCE = {1: "NEVER_SUBMITTED", 2: "LOCAL_COMPLETION", 3: "LOCAL_QUIESCED", 6: "OWNER_EXITED"}


class Observation(NamedTuple):
    """What the Manager knows of a plan: its state, and the evidence that ended holds of sessions."""

    state: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class PlanBlock:
    """A block of a plan: which of the names asked for, its length."""

    index: int
    bytes: int


class Word:
    """A word of shared memory, which stays mapped longer than this object is used."""

    __slots__ = ("_value",)

    def __init__(self, address: int) -> None:
        self._value = ctypes.c_uint64.from_address(address)

    def load(self) -> int:
        """One load; nothing behind it is loaded earlier."""
        value = self._value.value
        if WEAKLY_ORDERED:
            fence()
        return value

    def store(self, value: int) -> None:
        """One store; nothing in front of it happens later."""
        if WEAKLY_ORDERED:
            fence()
        self._value.value = value


class _Turn:
    """Whether a session's claim of a record is over. Outlives the claim, should that be dropped."""

    __slots__ = ("ended",)

    def __init__(self) -> None:
        self.ended = False


class Claims:
    """The claims of one session: a record at most once in a generation, in rising order, one at a time."""

    def __init__(
        self, session: "Session", arenas: Sequence[Arena], plans: Arena, claims: Arena, first_generation: int
    ) -> None:
        if ctypes.string_at(plans.address, 4) != _MAGIC:
            raise Corrupt("plans of WELCOME are none; both sides must be of one release")
        self._session = session
        self._arenas = arenas
        self._plans = plans
        self._own = claims
        self._first = first_generation
        self._lock = _thread.allocate_lock()
        self._last: dict[int, tuple[int, _Turn | None]] = {}  # by record: generation, its claim unless given up

    def claim(self, record: int, generation: int) -> "Claim":
        """Claims; see :meth:`Client.claim`."""
        self._check(record, generation)
        self._plans.enter()
        try:
            self._own.enter()
        except BaseException:
            self._plans.leave()
            raise
        try:
            with self._lock:
                self._in_turn(record, generation)
                manager = Word(self._plans.address + _RECORDS_AT + record * _RECORD_BYTES)
                if manager.load() != generation << 8 | GRANTED:
                    raise _over(record, generation)
                own = Word(self._own.address + record * 8)
                turn = _Turn()
                claim = Claim(self, own, record, generation, turn)
                self._last[record] = (generation, turn)
                own.store(generation << 8 | ACTIVE)
            fence()  # this side's own; the Manager adds membarrier(2), since HELLO said that there is none
            if manager.load() != generation << 8 | GRANTED:
                claim._end_before_copying()
                raise _over(record, generation)
            try:
                claim._read(*self._plan(record, generation))
            except BaseException:
                claim._end_before_copying()
                raise
            return claim
        except BaseException:
            self.left()
            raise

    def give_up(self, record: int, generation: int) -> bool:
        """This session will not claim that plan any more; false if it copies for it."""
        self._check(record, generation)
        with self._lock:
            last, turn = self._last.get(record, (0, None))
            if last == generation and turn is not None:
                return turn.ended
            if last < generation:
                if turn is not None and not turn.ended:
                    return True  # it can not claim a newer one before that has ended
                self._last[record] = (generation, None)
            return True

    def left(self) -> None:
        """A claim is over: it touches its words no more."""
        self._own.leave()
        self._plans.leave()

    def told(self, claim: "Claim") -> None:
        """Its last word is written: wakes the Manager."""
        self._session.tell_manager(Opcode.RESTORE_ENDED, claim.record, claim.generation)

    def refuse_child(self) -> None:
        """Raises in a forked child."""
        self._session.refuse_child()

    def own(self) -> bool:
        """Whether this is the process that connected."""
        return self._session.own()

    def _check(self, record: int, generation: int) -> None:
        self._session.refuse_child()
        if not 0 <= record < RECORDS or not 1 <= generation <= MAX_GENERATION:
            raise ValueError(f"record {record}, generation {generation}: there is no such plan")
        if generation < self._first:
            raise StaleEpoch(
                Fault.STALE_GENERATION,
                f"plan (record {record}, generation {generation}) is older than this session; ask for the blocks again",
            )

    def _in_turn(self, record: int, generation: int) -> None:
        last, turn = self._last.get(record, (0, None))
        if turn is not None and not turn.ended:
            raise OrbitKVError(f"record {record} is claimed by this session; end that claim first", Fault.IN_USE)
        if generation <= last:
            raise StaleEpoch(
                Fault.STALE_GENERATION,
                f"plan (record {record}, generation {generation}): this session has claimed or given up generation {last}",
            )

    def _plan(self, record: int, generation: int) -> tuple[list[PlanBlock], Source]:
        at = self._plans.address + _RECORDS_AT + record * _RECORD_BYTES
        told = wire.Record.decode(ctypes.string_at(at, _RECORD_BYTES))
        if told.generation != generation or told.first_block + told.blocks > _BANK_BLOCKS:
            raise Corrupt(f"record {record} does not hold its plan; both sides must be of one release")
        begin = self._plans.address + _BANK_AT + told.first_block * _BANK_BLOCK_BYTES
        planned = wire.decode_planned(ctypes.string_at(begin, told.blocks * _BANK_BLOCK_BYTES))
        entries = [wire.BlockEntry(b.name_index, 1, b.arena, b.offset, b.size, b.generation) for b in planned]
        return [PlanBlock(b.name_index, b.size) for b in planned], Source(self._arenas, entries)


def _over(record: int, generation: int) -> LeaseEnded:
    return LeaseEnded(
        f"plan (record {record}, generation {generation}) is not granted: it was revoked or has ended;"
        " ask for the blocks again"
    )


class Claim:
    """The right of this session to copy one plan, once. Made by :meth:`Client.claim`; thread-safe.

    A context manager: leaving it without an exception says DRAINED, with one FAILED. Copies that other threads have
    under way then are waited for: the last to leave says it. It works when the Manager has died.
    """

    def __init__(self, claims: Claims, own: Word, record: int, generation: int, turn: _Turn) -> None:
        self.record = record
        self.generation = generation
        self.blocks: tuple[PlanBlock, ...] = ()
        self._claims = claims
        self._own = own
        self._lock = _thread.allocate_lock()
        self._source: Source | None = None
        self._inside = 0
        self._last = 0  # the state to end with, once nobody is inside
        self._turn = turn
        self._said_part = False

    @property
    def ended(self) -> bool:
        """Whether its last word is written: nothing reads the plan for this session any more."""
        return self._turn.ended

    def copy_into(self, index: int, buffer: Any) -> int:
        """Copies block ``blocks[index]`` to the start of a buffer, as :meth:`orbitkv.Lease.copy_into`; its bytes."""
        source = self._enter()
        try:
            at = range(len(self.blocks))[index]
            return source.copy(at, source.destination(at, buffer))
        finally:
            self._leave()

    def copy_segments(self, index: int, segments: Iterable[tuple[int, int]]) -> int:
        """Copies block ``blocks[index]`` piece by piece, without the GIL.

        :param segments: (address, bytes) of host memory that the caller owns and keeps; together they have the block's
            length, which is checked before the first byte moves
        """
        source = self._enter()
        try:
            address, size = source.place(range(len(self.blocks))[index])
            pieces = [(int(to), int(length)) for to, length in segments]
            total = 0
            for to, length in pieces:
                if length < 0 or to <= 0:
                    raise ValueError(f"segment of {length} bytes at {to:#x} is none")
                total += length
            if total != size:
                raise ValueError(f"segments of {total} bytes for block {index} of {size}; give as many as it has")
            for to, length in pieces:
                memcpy(to, address, length)
                address += length
            return size
        finally:
            self._leave()

    def part_ended(self) -> None:
        """Says that some of the blocks are copied, and others are not."""
        self._claims.refuse_child()
        with self._lock:
            if not self._said_part and not self._turn.ended and not self._last:
                self._said_part = True
                self._own.store(self.generation << 8 | PART_DRAINED)

    def end(self, whole: bool = True) -> None:
        """Ends it, once nobody copies any more: DRAINED if every byte is in place, FAILED if not. Never waits.

        In a forked child it does nothing: the word is the parent's, and not mapped here.
        """
        if not self._claims.own():
            return
        with self._lock:
            if self._turn.ended or self._last:
                return
            self._last = DRAINED if whole else FAILED
            if self._inside:
                return
            self._write_end()
        self._after_end()

    def __enter__(self) -> "Claim":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.end(kind is None)

    def _read(self, blocks: Sequence[PlanBlock], source: Source) -> None:
        source.enter()
        self._source = source
        self.blocks = tuple(blocks)

    def _end_before_copying(self) -> None:
        self._last = FAILED
        self._write_end()
        self._claims.told(self)

    def _enter(self) -> Source:
        self._claims.refuse_child()
        with self._lock:
            if self._turn.ended or self._last or self._source is None:
                raise LeaseEnded(f"claim of record {self.record} has ended; nothing may be copied for it")
            self._inside += 1
            return self._source

    def _leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside or not self._last:
                return
            self._write_end()
        self._after_end()

    def _write_end(self) -> None:
        self._own.store(self.generation << 8 | self._last)
        self._turn.ended = True

    def _after_end(self) -> None:
        if self._source is not None:
            self._source.leave()
        self._claims.left()
        self._claims.told(self)

    def __del__(self) -> None:
        # Nobody can be inside any more. Its memory stays mapped: a finalizer takes no lock that others take.
        if hasattr(self, "_turn") and not self._turn.ended and self._claims._session.own():
            warnings.warn(f"claim of record {self.record} was dropped; end it", ResourceWarning, stacklevel=2)
            self._last = FAILED
            self._write_end()
            self._claims._session.owe(Opcode.RESTORE_ENDED, self.record, self.generation)


class Plan:
    """A plan that was told to this session, for any session of the instance: (record, generation) are plain numbers."""

    def __init__(self, client: Any, record: int, generation: int, blocks: Sequence[PlanBlock]) -> None:
        self._client = client
        self.record = record
        self.generation = generation
        self.blocks: tuple[PlanBlock, ...] = tuple(blocks)

    @property
    def bytes(self) -> int:
        """Of all blocks."""
        return sum(block.bytes for block in self.blocks)

    def claim(self) -> Claim:
        """Claims it in this session; see :meth:`Client.claim`."""
        claim: Claim = self._client.claim(self.record, self.generation)
        return claim

    def cancel(self) -> None:
        """Gives it up, in this session at once. Never blocks, never raises, does not wait for the answer.

        Pages that a session may be filling for it are busy until it has ended: :meth:`Client.cancel_plan` tells.
        """
        try:
            self._client._claims_of_session().give_up(self.record, self.generation)
            self._client._session.tell_manager(Opcode.CANCEL_PLAN, self.record, self.generation)
        except OrbitKVError:
            pass  # a forked child, or a session that is over: then its process answers for it
