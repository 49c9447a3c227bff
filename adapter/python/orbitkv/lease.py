"""Blocks that the Manager keeps where they are until this process says that it reads them no more."""

from __future__ import annotations

import _thread
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from .errors import Corrupt, Fault, LeaseEnded, OrbitKVError
from .memory import Arena, Destination
from .wire import BlockEntry, BlockName, Opcode

if TYPE_CHECKING:
    from .session import Session

_now = time.perf_counter_ns


@dataclass(frozen=True)
class Block:
    """A block that was found: ``index`` of its name among those asked for, its length, whether a peer had it."""

    index: int
    name: BlockName
    bytes: int
    fetched: bool


class Source:
    """Places in the Manager's arenas, checked once, that are copied out of and never handed out."""

    __slots__ = ("_arenas", "_places")

    def __init__(self, arenas: Sequence[Arena], entries: Sequence[BlockEntry]) -> None:
        self._places: list[tuple[int, int]] = []
        used: dict[int, Arena] = {}
        for entry in entries:
            if entry.arena >= len(arenas):
                raise Corrupt(f"Manager's answer: block {entry.name_index} in arena {entry.arena}, which there is not")
            arena = used.setdefault(entry.arena, arenas[entry.arena])
            if entry.size < 1 or entry.offset > arena.bytes or entry.size > arena.bytes - entry.offset:
                raise Corrupt(f"Manager's answer: block {entry.name_index} is outside of its arena")
            self._places.append((arena.address + entry.offset, entry.size))
        self._arenas = tuple(used.values())

    def __len__(self) -> int:
        return len(self._places)

    def destination(self, index: int, buffer: Any) -> Destination:
        """The buffer, if the block fits into it."""
        size = self._places[index][1]
        destination = Destination(buffer)
        if destination.bytes < size:
            raise ValueError(f"block {index} has {size} bytes, its destination {destination.bytes}; give a larger one")
        return destination

    def copy(self, index: int, destination: Destination) -> int:
        """Copies one block, between :meth:`enter` and :meth:`leave`; its bytes."""
        address, size = self._places[index]
        destination.fill(address, size)
        return size

    def place(self, index: int) -> tuple[int, int]:
        """Address and length of one block, for a copy between :meth:`enter` and :meth:`leave`."""
        return self._places[index]

    def enter(self) -> None:
        """Keeps the arenas mapped."""
        entered = []
        try:
            for arena in self._arenas:
                arena.enter()
                entered.append(arena)
        except BaseException:
            for arena in entered:
                arena.leave()
            raise

    def leave(self) -> None:
        """Ends a use."""
        for arena in self._arenas:
            arena.leave()


class Lease:
    """What a query found, in the order of the names; a name that is not here was a miss.

    Thread-safe. The Manager's memory is never handed out: :meth:`copy_into` copies out of it. Close it, or use it as a
    context manager; one that is dropped is released later, with a :class:`ResourceWarning`.
    """

    def __init__(
        self, session: "Session", number: int, expires_ns: int, blocks: Sequence[Block], source: Source
    ) -> None:
        self._session = session
        self._number = number
        self._expires = expires_ns
        self._source = source
        self._lock = _thread.allocate_lock()
        self._inside = 0
        self._closed = number == 0  # nothing is held
        self._restoring = False
        self.generations: tuple[int, ...] = ()
        self.blocks: tuple[Block, ...] = tuple(blocks)

    def __len__(self) -> int:
        return len(self.blocks)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    @property
    def bytes(self) -> int:
        """Of all blocks."""
        return sum(block.bytes for block in self.blocks)

    @property
    def expired(self) -> bool:
        """Whether a copy may begin no more."""
        return _now() >= self._expires

    def copy_into(self, index: int, buffer: Any) -> int:
        """Copies block ``blocks[index]`` to the start of a buffer. The copy is over on return.

        :param buffer: writable, contiguous host memory of at least the block's length: bytearray, memoryview, NumPy
            array, CPU tensor of PyTorch; see :class:`orbitkv.memory.Destination`
        :return: the bytes copied
        :raises LeaseEnded: if the lease was closed, or expired before the copy began
        """
        destination = self._source.destination(range(len(self.blocks))[index], buffer)
        self._enter()
        try:
            return self._source.copy(range(len(self.blocks))[index], destination)
        finally:
            self._leave()

    def copy_all(self, buffers: Sequence[Any]) -> int:
        """Copies every block, one buffer each, in order. All are checked before the first byte moves.

        :return: the bytes copied
        """
        if len(buffers) != len(self.blocks):
            raise ValueError(f"{len(buffers)} buffers for {len(self.blocks)} blocks; give one each")
        destinations = [self._source.destination(index, buffer) for index, buffer in enumerate(buffers)]
        if not destinations:
            return 0
        self._enter()
        try:
            copied = 0
            for index, destination in enumerate(destinations):
                if self.expired:
                    raise _expired()
                copied += self._source.copy(index, destination)
            return copied
        finally:
            self._leave()

    def close(self) -> None:
        """Tells the Manager that this process reads the blocks no more, after the copies under way. Never waits."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._inside or self._restoring:
                return
        self._release()

    def begin_restore(self) -> None:
        """No copy may begin under it until :meth:`end_restore`."""
        with self._lock:
            if self._closed or self._restoring:
                raise LeaseEnded("this lease is closed or used up; ask for its blocks again")
            if self._inside:
                raise OrbitKVError("a copy is under way under this lease; restore it when that is over", Fault.IN_USE)
            self._restoring = True

    def end_restore(self, used_up: bool) -> None:
        """The plan has taken its blocks over, or it is as it was before."""
        with self._lock:
            self._restoring = False
            closed, self._closed = self._closed, self._closed or used_up
            if used_up or not closed:
                return
        self._release()

    def __enter__(self) -> "Lease":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True) and self._session.own():
            warnings.warn(f"lease of {len(self.blocks)} blocks was dropped; close it", ResourceWarning, stacklevel=2)
            self._session.owe(Opcode.RELEASE, self._number, 0)

    def _enter(self) -> None:
        self._session.refuse_child()
        if self.expired:
            raise _expired()
        with self._lock:
            if self._closed or self._restoring:
                raise LeaseEnded("this lease is closed, or used up by a plan; ask for its blocks again")
            self._source.enter()
            self._inside += 1

    def _leave(self) -> None:
        self._source.leave()
        with self._lock:
            self._inside -= 1
            if self._inside or not self._closed:
                return
        self._release()

    def _release(self) -> None:
        if self._session.own():
            self._session.tell_manager(Opcode.RELEASE, self._number, 0)


def _expired() -> LeaseEnded:
    return LeaseEnded("this lease has expired; ask for its blocks again")
