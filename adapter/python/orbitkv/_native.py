"""What the standard library lacks: fences, mappings that stay out of forked children, raw copies."""

from __future__ import annotations

import _thread
import ctypes
import errno
import mmap
import os
import platform
from typing import Callable

LIBC = ctypes.CDLL(None, use_errno=True)  # a call of a CDLL gives the GIL up while it runs

PROT_READ, PROT_WRITE, MAP_SHARED = 1, 2, 1
_MAP_FIXED, _MAP_ROOM = 0x10, 0x4022  # the second: private, anonymous, not reserved
MADV_DONTFORK, MADV_WIPEONFORK, MADV_POPULATE_READ, MADV_POPULATE_WRITE = 10, 18, 22, 23
MAP_FAILED = ctypes.c_void_p(-1).value

_SYS_MEMBARRIER = {"x86_64": 324, "aarch64": 283}
_MEMBARRIER_GLOBAL_EXPEDITED = 1 << 1
_MEMBARRIER_REGISTER_GLOBAL_EXPEDITED = 1 << 2

MACHINE = platform.machine()

WEAKLY_ORDERED = MACHINE != "x86_64"
"""Whether this processor may also reorder loads with loads, and stores with stores."""

_mmap = LIBC.mmap
_mmap.restype = ctypes.c_void_p
_mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int64,
)
_munmap = LIBC.munmap
_munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_madvise = LIBC.madvise
_madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

memcpy = LIBC.memcpy
"""``memcpy(destination, source, bytes)`` of addresses, without the GIL. The caller has checked all three."""
memcpy.restype = None
memcpy.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def populate(address: int, size: int) -> bool:
    """Makes the whole pages of a writable range present, content as it is; False if the kernel does not. No GIL."""
    begin = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (address + size) // mmap.PAGESIZE * mmap.PAGESIZE
    return end <= begin or _madvise(begin, end - begin, MADV_POPULATE_WRITE) == 0


def _failed(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def _huge_page() -> int:
    try:
        with open("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


HUGE_PAGE = _huge_page()
"""Bytes in a huge page that shared memory can be made of; 0 if this kernel has none."""


def _map_shared(fd: int, size: int, protection: int) -> int:
    """An address; of a large mapping one at which huge pages of the file, if it has any, are mapped as such."""
    # What may not be mapped fails here: a failure over a reservation may have made a hole in it.
    address = _mmap(None, size, protection, MAP_SHARED, fd, 0)
    if address == MAP_FAILED or address is None:
        raise _failed(f"mmap of {size} bytes")
    if not HUGE_PAGE or size < HUGE_PAGE or address % HUGE_PAGE == 0:
        return int(address)
    _munmap(address, size)
    size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    room = _mmap(None, size + HUGE_PAGE, 0, _MAP_ROOM, -1, 0)
    if room == MAP_FAILED or room is None:
        raise _failed(f"mmap of {size} bytes")
    aligned = -(-room // HUGE_PAGE) * HUGE_PAGE
    found = _mmap(aligned, size, protection, MAP_SHARED | _MAP_FIXED, fd, 0)
    failure = _failed(f"mmap of {size} bytes")
    if aligned > room:
        _munmap(room, aligned - room)
    if aligned < room + HUGE_PAGE:
        _munmap(aligned + size, room + HUGE_PAGE - aligned)
    if found != aligned:
        raise failure
    return int(aligned)


def _membarrier(command: int) -> int:
    number = _SYS_MEMBARRIER.get(MACHINE)
    if number is None:
        ctypes.set_errno(errno.ENOSYS)
        return -1
    return int(LIBC.syscall(ctypes.c_long(number), command, 0, 0))


def register_membarrier() -> None:
    """Registers this process for the Manager's membarrier(2), which orders a client that can not fence."""
    if _membarrier(_MEMBARRIER_REGISTER_GLOBAL_EXPEDITED) != 0:
        raise _failed("membarrier REGISTER_GLOBAL_EXPEDITED")


def _fence_of_libatomic() -> Callable[[], None] | None:
    try:
        fence = ctypes.PyDLL("libatomic.so.1").atomic_thread_fence
    except (OSError, AttributeError):
        return None
    fence.restype = None
    fence.argtypes = (ctypes.c_int,)
    seq_cst = ctypes.c_int(5)
    return lambda: fence(seq_cst)


def _fence_of_lock() -> Callable[[], None]:
    lock = _thread.allocate_lock()

    def fence() -> None:
        if lock.acquire(False):
            lock.release()
        else:
            # Another thread holds it for these few instructions; a lock of one's own is free.
            own = _thread.allocate_lock()
            own.acquire(False)

    return fence


def _fence_of_membarrier() -> Callable[[], None]:
    def fence() -> None:
        if _membarrier(_MEMBARRIER_GLOBAL_EXPEDITED) != 0:
            raise _failed("membarrier GLOBAL_EXPEDITED")

    return fence


def make_fence() -> Callable[[], None]:
    """A full fence: no load behind it is performed before a store in front of it.

    1. ``atomic_thread_fence(memory_order_seq_cst)`` of libatomic: C11 defines it as that, on every processor.
    2. Without libatomic on x86-64: taking a lock that is free. It is an atomic read-modify-write, which there is
       always a locked instruction, and those order all loads and stores.
    3. Elsewhere: membarrier(2) GLOBAL_EXPEDITED, which begins and ends with a full barrier of the caller. A lock
       would not do: acquire and release together let a later load pass an earlier store. Nor would
       PRIVATE_EXPEDITED: in a process of one thread the kernel returns before its barrier.
    """
    found = _fence_of_libatomic()
    if found is not None:
        return found
    return _fence_of_lock() if MACHINE == "x86_64" else _fence_of_membarrier()


fence: Callable[[], None] = make_fence()
"""A full fence of the calling thread."""


class Mapping:
    """Shared memory of a descriptor that stays out of children made by fork. Unmapped by ``close()`` only.

    It has no finalizer on purpose: in a forked child these addresses may be somebody else's by then.
    """

    __slots__ = ("address", "bytes", "_open")

    def __init__(self, fd: int, size: int, writable: bool) -> None:
        protection = PROT_READ | (PROT_WRITE if writable else 0)
        address = _map_shared(fd, size, protection)
        self.address = address
        self.bytes = size
        self._open = True
        if _madvise(address, size, MADV_DONTFORK) != 0:
            failure = _failed("madvise DONTFORK")
            self.close()
            raise failure

    def populate(self, offset: int, size: int) -> bool:
        """Maps pages of a range that lies inside, for reading, without the GIL. False if the kernel will not."""
        return int(_madvise(self.address + offset, size, MADV_POPULATE_READ)) == 0

    def close(self) -> None:
        """Unmaps. Nothing may use it any more, and the process must be the one that mapped it."""
        if self._open:
            self._open = False
            _munmap(self.address, self.bytes)


class ForkMark:
    """Tells whether this is still the process that made it: one load, whoever called fork."""

    __slots__ = ("_page", "_word")

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._page.madvise(MADV_WIPEONFORK)  # the kernel zeroes it in every child
        self._word = memoryview(self._page).cast("Q")
        self._word[0] = 1

    def own(self) -> bool:
        """False in a forked child."""
        return self._word[0] == 1
