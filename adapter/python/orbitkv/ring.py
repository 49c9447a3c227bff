"""The shared-memory ring of one session: layout, the side that writes and the side that takes.

Both sides can write all of it, so a command and its descriptor are copied out before they are looked at, and every
count is checked against this side's own. Words are loaded and stored by single native accesses: a ``memoryview`` of
format Q copies exactly eight aligned bytes. Layout and rules: docs/protocol/channel.md, section 4.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import NamedTuple

from . import wire
from ._native import WEAKLY_ORDERED, Mapping, fence
from .errors import Corrupt

RING_VERSION = 1
RING_BYTES = 16_912_384
ENTRIES = 1024
ARENA_BYTES = 8 << 20
REQUESTS = (1024, 4096, 135_168)
ANSWERS = (2048, 69_632, 8_523_776)

_HEAD, _SLEEPING, _FULL = 16, 64, 96  # in words of the u64 view, and of the u32 view for the two flags
_WARM_BYTES = 512 << 10
_LAPS = (1 << 63) // ARENA_BYTES - 2
_SPIN_NANOS = 50_000
_LONG_YIELD_NANOS = 20_000

_now = time.perf_counter_ns
_yield = os.sched_yield


class Memory:
    """A ring's memory, mapped; ``close()`` after the last use."""

    __slots__ = ("bytes", "u64", "u32", "_mapping")

    def __init__(self, mapping: Mapping) -> None:
        self._mapping = mapping
        array = (ctypes.c_char * mapping.bytes).from_address(mapping.address)
        self.bytes = memoryview(array).cast("B")
        self.u64 = self.bytes.cast("Q")
        self.u32 = self.bytes.cast("I")

    def close(self) -> None:
        """Unmaps; every later access raises ``ValueError`` and touches nothing."""
        for view in (self.u32, self.u64, self.bytes):
            view.release()
        self._mapping.close()


class Taken(NamedTuple):
    """What was taken out: a command and a copy of its descriptor."""

    version: int
    opcode: int
    request_id: int
    epoch: bytes
    scalar0: int
    scalar1: int
    descriptor: bytes


class _Side:
    """Where the words and bytes of one direction are. The memory is all zeros at first, but for its header."""

    __slots__ = (
        "_memory",
        "_u64",
        "_u32",
        "_tail_at",
        "_head_at",
        "_sleeping_at",
        "_full_at",
        "_entries_at",
        "_arena_at",
    )

    def __init__(self, memory: Memory, direction: tuple[int, int, int]) -> None:
        words, self._entries_at, self._arena_at = direction
        self._memory, self._u64, self._u32 = memory.bytes, memory.u64, memory.u32
        self._tail_at = words // 8
        self._head_at = self._tail_at + _HEAD
        self._sleeping_at = words // 4 + _SLEEPING
        self._full_at = words // 4 + _FULL


class Producer(_Side):
    """Writes commands. For one thread at a time."""

    __slots__ = ("_epoch", "_ends", "_tail", "_head", "_arena_tail", "_arena_head")

    def __init__(self, memory: Memory, direction: tuple[int, int, int], epoch: bytes) -> None:
        super().__init__(memory, direction)
        self._epoch = epoch
        self._ends = [0] * ENTRIES
        self._tail = self._head = self._arena_tail = self._arena_head = 0

    def offer(self, opcode: int, request_id: int, scalar0: int, scalar1: int, descriptor: bytes) -> bool:
        """Writes a command if there is room; the caller then asks :meth:`consumer_sleeps`."""
        size = len(descriptor)
        position = self._room(size)
        if position < 0:
            return False
        offset = lap = 0
        if size:
            lap, offset = divmod(position, ARENA_BYTES)
            begin = self._arena_at + offset
            self._memory[begin : begin + size] = descriptor
        slot = self._tail & (ENTRIES - 1)
        wire.pack_command_into(
            self._memory,
            self._entries_at + slot * 64,
            wire.VERSION,
            opcode,
            size,
            request_id,
            self._epoch,
            offset,
            lap,
            scalar0,
            scalar1,
        )
        self._arena_tail = position + size
        self._ends[slot] = self._arena_tail
        self._tail += 1
        if WEAKLY_ORDERED:
            fence()  # the entry before its tail
        self._u64[self._tail_at] = self._tail
        return True

    def consumer_sleeps(self) -> bool:
        """Whether the consumer must be woken; a full fence comes first, or both sides could miss each other."""
        fence()
        return self._u32[self._sleeping_at] != 0

    def has_room(self, size: int) -> bool:
        """Whether a descriptor of so many bytes has room now."""
        return self._room(size) >= 0

    def waits_for_room(self, value: bool) -> None:
        """Announces it; after ``True`` the caller looks at :meth:`has_room` once more before it blocks."""
        self._u32[self._full_at] = 1 if value else 0
        if value:
            fence()

    def _room(self, size: int) -> int:
        begun = self._arena_tail & (ARENA_BYTES - 1)
        cold = size > 0 and begun > 0 and begun + size > _WARM_BYTES
        if cold or self._tail - self._head == ENTRIES or not self._fits(size):
            self._take_back()
        if cold and self._head == self._tail:
            # An empty arena is begun anew, so that few of its pages are ever touched.
            self._arena_tail = self._arena_head = (self._arena_tail | (ARENA_BYTES - 1)) + 1
        if self._tail - self._head == ENTRIES or not self._fits(size):
            return -1
        return self._place(size)

    def _fits(self, size: int) -> bool:
        return size == 0 or self._place(size) + size - self._arena_head <= ARENA_BYTES

    def _place(self, size: int) -> int:
        if size == 0:
            return self._arena_tail
        start = (self._arena_tail + 63) & -64
        offset = start & (ARENA_BYTES - 1)
        return start if offset + size <= ARENA_BYTES else start - offset + ARENA_BYTES

    def _take_back(self) -> None:
        seen = self._u64[self._head_at]
        if not self._head <= seen <= self._tail:
            raise Corrupt(f"ring: {seen} commands taken out of {self._tail} written; connect again")
        if seen > self._head:
            if WEAKLY_ORDERED:
                fence()
            self._head = seen
            self._arena_head = self._ends[(seen - 1) & (ENTRIES - 1)]


class Consumer(_Side):
    """Takes commands out. For one thread at a time."""

    __slots__ = ("_head", "_arena_end")

    def __init__(self, memory: Memory, direction: tuple[int, int, int]) -> None:
        super().__init__(memory, direction)
        self._head = self._arena_end = 0

    def ready(self) -> bool:
        """Whether there is something to take, or the producer broke the ring."""
        return self._u64[self._tail_at] != self._head

    def poll(self) -> bool:
        """Polls and yields for 50 us at most; a yield that took long ends it. Whether there is something to take."""
        u64, at, head = self._u64, self._tail_at, self._head
        if u64[at] != head:
            return True
        start = before = _now()
        while True:
            _yield()
            if u64[at] != head or u64[at] != head or u64[at] != head or u64[at] != head:
                return True
            after = _now()
            if after - before > _LONG_YIELD_NANOS or after - start > _SPIN_NANOS:
                return False
            before = after

    def take(self) -> Taken | None:
        """The next command, its place given back; the caller then asks :meth:`producer_waits`. None if there is none.

        Raises :class:`Corrupt` if the producer broke the ring: the session must end then.
        """
        head = self._head
        tail = self._u64[self._tail_at]
        if tail == head:
            return None
        if not head < tail <= head + ENTRIES:
            raise Corrupt(f"ring says that {tail} commands were written, {head} were taken out; connect again")
        if WEAKLY_ORDERED:
            fence()  # the tail before its entry
        entry = self._entries_at + (head & (ENTRIES - 1)) * 64
        version, opcode, size, request_id, epoch, offset, lap, scalar0, scalar1 = wire.unpack_command(
            self._memory[entry : entry + 64].tobytes()
        )
        descriptor = self._descriptor(size, offset, lap) if size else b""
        if WEAKLY_ORDERED:
            fence()  # the copies before their place is given back
        self._head = head + 1
        self._u64[self._head_at] = head + 1
        return Taken(version, opcode, request_id, epoch, scalar0, scalar1, descriptor)

    def producer_waits(self) -> bool:
        """Whether the producer must be told that a place was given back; a full fence comes first."""
        fence()
        return self._u32[self._full_at] != 0

    def sleeping(self, value: bool) -> None:
        """Announces that this side waits; after ``True`` the caller asks :meth:`ready` once more before it blocks."""
        self._u32[self._sleeping_at] = 1 if value else 0
        if value:
            fence()

    def _descriptor(self, size: int, offset: int, lap: int) -> bytes:
        if size > wire.DESCRIPTOR_LIMIT or offset % 64 or offset > ARENA_BYTES - size:
            raise Corrupt(f"ring has a descriptor of {size} bytes at {offset}, outside the arena; connect again")
        # An arena is used in order, so a descriptor of an earlier lap never passes for a new one.
        position = lap * ARENA_BYTES + offset
        if lap > _LAPS or not 0 <= position - self._arena_end <= ARENA_BYTES:
            raise Corrupt(f"ring has a descriptor of generation {lap} at {offset}, out of turn; connect again")
        begin = self._arena_at + offset
        copy = self._memory[begin : begin + size].tobytes()
        self._arena_end = position + size
        return copy
