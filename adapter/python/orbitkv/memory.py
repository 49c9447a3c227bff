"""Memory: the Manager's arenas, which are only copied out of, and this process's own that the Manager may read."""

from __future__ import annotations

import _thread
import ctypes
import mmap
from typing import TYPE_CHECKING, Any, Sequence

from ._native import Mapping, memcpy
from .errors import Closed

if TYPE_CHECKING:
    from .client import Client


_PIECE_BYTES = 64 << 20


class Arena:
    """An arena of the Manager, mapped for reading. Unmapped once closed and the last copy has left."""

    __slots__ = ("bytes", "address", "_mapping", "_lock", "_inside", "_closed")

    def __init__(self, mapping: Mapping) -> None:
        self._mapping = mapping
        self.bytes = mapping.bytes
        self.address = mapping.address
        self._lock = _thread.allocate_lock()
        self._inside = 0
        self._closed = False

    def enter(self) -> None:
        """Begins a use; each is ended by :meth:`leave`."""
        with self._lock:
            if self._closed:
                raise Closed("the client whose memory this is was closed; connect again")
            self._inside += 1

    def leave(self) -> None:
        """Ends a use."""
        with self._lock:
            self._inside -= 1
            if self._closed and not self._inside:
                self._mapping.close()

    def populate(self) -> None:
        """Maps all of it page by page, so that no copy has to. Takes long; ends early once it is closed."""
        for offset in range(0, self.bytes, _PIECE_BYTES):
            try:
                self.enter()
            except Closed:
                return
            try:
                if not self._mapping.populate(offset, min(_PIECE_BYTES, self.bytes - offset)):
                    return
            finally:
                self.leave()

    def close(self) -> None:
        """Refuses new uses; does not wait for those under way."""
        with self._lock:
            if not self._closed:
                self._closed = True
                if not self._inside:
                    self._mapping.close()


def populate(arenas: Sequence[Arena]) -> None:
    """Maps their pages, in order, on a thread that ends with that. For a process that will copy out of them."""

    def work() -> None:
        for arena in arenas:
            arena.populate()

    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:
        pass  # no thread is to be had: the copies map what they read


class Destination:
    """Where a copy goes: an address, and what keeps it alive. Made of a writable buffer of host memory.

    Buffers are anything with a writable, contiguous buffer (bytearray, memoryview, mmap, array, ctypes, NumPy), or a
    CPU tensor with ``data_ptr()`` (PyTorch).
    """

    __slots__ = ("address", "bytes", "_owner")

    def __init__(self, buffer: Any) -> None:
        pointer = getattr(buffer, "data_ptr", None)
        if pointer is not None:
            self.address, self.bytes = _tensor(buffer, pointer)
            self._owner: Any = buffer
            return
        view = memoryview(buffer)
        if view.readonly:
            raise TypeError(f"destination {type(buffer).__name__} is read-only; give a writable buffer")
        if not view.c_contiguous:
            raise TypeError(f"destination {type(buffer).__name__} is not contiguous; give a contiguous buffer")
        self.bytes = view.nbytes
        # Holds an export of the buffer, so that it can not be resized or freed under the copy.
        self._owner = (ctypes.c_char * self.bytes).from_buffer(view) if self.bytes else view
        self.address = ctypes.addressof(self._owner) if self.bytes else 0

    def fill(self, source: int, size: int) -> None:
        """Copies from an address, without the GIL. Both ranges were checked by the caller."""
        memcpy(self.address, source, size)


def _tensor(tensor: Any, pointer: Any) -> tuple[int, int]:
    device = getattr(tensor, "device", None)
    kind = getattr(device, "type", device)
    if kind is not None and str(kind) != "cpu":
        raise TypeError(f"destination is a tensor on {kind}; give one in host memory")
    contiguous = getattr(tensor, "is_contiguous", None)
    if contiguous is not None and not contiguous():
        raise TypeError("destination is a tensor that is not contiguous; give a contiguous one")
    return int(pointer()), int(tensor.numel()) * int(tensor.element_size())


class RegisteredMemory:
    """Shared memory of this process that the Manager may read. The caller fills :attr:`buffer` and publishes of it.

    Made by :meth:`Client.register`. Closing it ends the registration once no copy reads it any more.
    """

    def __init__(self, client: "Client", memory: mmap.mmap, number: int, generation: int) -> None:
        self._client = client
        self._memory: mmap.mmap | None = memory
        self._view = memoryview(memory)
        self.bytes = len(memory)
        self.registration = (number, generation)

    @property
    def buffer(self) -> memoryview:
        """All of it, readable and writable, zero at first."""
        self._client.refuse_child()
        if self._memory is None:
            raise Closed("this registered memory was closed; register memory again")
        return self._view

    @property
    def client(self) -> "Client":
        """Whose it is."""
        return self._client

    def close(self) -> None:
        """Withdraws it: queued publishes of it fail, copies under way end first. A second call does nothing.

        It stays mapped as long as somebody has a view of :attr:`buffer`.
        """
        memory, self._memory = self._memory, None
        if memory is None:
            return
        try:
            self._client._unregister(self.registration)
        finally:
            try:
                self._view.release()
                memory.close()
            except BufferError:
                pass  # unmapped with the last view of it

    def __enter__(self) -> "RegisteredMemory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
