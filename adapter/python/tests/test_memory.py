"""Mappings of the Manager's memory: where they lie, and what is mapped before it is read."""

from __future__ import annotations

import os
import pathlib
import re
import threading
import unittest

import orbitkv
from orbitkv._native import HUGE_PAGE, Mapping
from orbitkv.errors import Closed
from orbitkv.memory import Arena

from .support import DEADLINE, needs_manager, shared, until


def memfd(name: str, size: int) -> int:
    fd = os.memfd_create(name)
    os.truncate(fd, size)
    for at in range(0, size, 4096):
        os.pwrite(fd, b"x", at)
    return fd


def resident(name: str) -> int:
    """Bytes of the mapping of a file that this process need not fault in any more; -1 without such a mapping."""
    text = pathlib.Path("/proc/self/smaps").read_text()
    found = re.search(rf"^[^\n]*memfd:{name}[^\n]*\n(?:[A-Za-z_]+:[^\n]*\n)*?Rss: *(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else -1


class MemoryTest(unittest.TestCase):
    def test_arena_is_mapped_without_being_read(self) -> None:
        size = (5 << 20) + 4096
        fd = memfd("populated", size)
        arena = Arena(Mapping(fd, size, False))
        os.close(fd)
        self.assertEqual(resident("populated"), 0)
        arena.populate()
        self.assertEqual(resident("populated"), size)
        arena.close()
        self.assertEqual(resident("populated"), -1)

    # Guard: enter() and leave() around each piece of Arena.populate. Without them a range that is unmapped, and may
    # be somebody else's by then, is populated.
    def test_populating_ends_before_the_memory_is_unmapped(self) -> None:
        begun, go = threading.Event(), threading.Event()
        asked: list[int] = []
        unmapped: list[int] = []

        class Slow:
            bytes = 200 << 20
            address = 4096

            def populate(self, offset: int, size: int) -> bool:
                asked.append(offset)
                begun.set()
                go.wait(DEADLINE)
                return True

            def close(self) -> None:
                unmapped.append(len(asked))

        arena = Arena(Slow())  # type: ignore[arg-type]
        thread = threading.Thread(target=arena.populate)
        thread.start()
        self.assertTrue(begun.wait(DEADLINE))
        arena.close()
        self.assertEqual(unmapped, [])
        go.set()
        thread.join(DEADLINE)
        self.assertEqual(asked, [0])
        self.assertEqual(unmapped, [1])
        with self.assertRaises(Closed):
            arena.enter()

    # Guard: Arena.populate ending where the kernel will not.
    def test_a_kernel_without_it_is_asked_once(self) -> None:
        asked: list[int] = []

        class Old:
            bytes = 200 << 20
            address = 4096

            def populate(self, offset: int, size: int) -> bool:
                asked.append(offset)
                return False

            def close(self) -> None:
                pass

        Arena(Old()).populate()  # type: ignore[arg-type]
        self.assertEqual(asked, [0])

    # Guard: the reservation in _map_shared. An address of the kernel's choice is seldom a multiple of a huge page.
    @unittest.skipUnless(HUGE_PAGE, "this kernel has no huge pages")
    def test_large_mappings_lie_at_multiples_of_a_huge_page(self) -> None:
        size = HUGE_PAGE + 4096
        fd = memfd("aligned", size)
        mappings = [Mapping(fd, size, False) for _ in range(8)]
        os.close(fd)
        self.assertEqual([mapping.address % HUGE_PAGE for mapping in mappings], [0] * 8)
        spans = sorted((mapping.address, mapping.address + size) for mapping in mappings)
        self.assertTrue(all(end <= begin for (_, end), (begin, _) in zip(spans, spans[1:])))
        for mapping in mappings:
            mapping.close()

    @needs_manager
    def test_a_worker_has_the_pool_mapped_and_a_tool_has_not(self) -> None:
        # Guard: the role in Client.__init__, and populate() being called there.
        with orbitkv.connect(shared().socket, instance="memory-tests", role="worker", timeout=DEADLINE) as client:
            size = client._arenas[0].bytes
            until("all of the arena is mapped", lambda: resident("orbitkv-arena-0") == size)
        self.assertEqual(resident("orbitkv-arena-0"), -1)
        threads = len(os.listdir("/proc/self/task"))
        with orbitkv.connect(shared().socket, instance="memory-tests", role="tool", timeout=DEADLINE):
            until("no thread of it runs", lambda: len(os.listdir("/proc/self/task")) <= threads)
            self.assertEqual(resident("orbitkv-arena-0"), 0)


if __name__ == "__main__":
    unittest.main()
