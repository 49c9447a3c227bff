"""The ring by itself: order, room, laps, and a side that writes nonsense."""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import struct
import sys
import threading
import time
import unittest

from orbitkv import ring, wire
from orbitkv._native import ForkMark, Mapping, fence, make_fence, memcpy
from orbitkv._native import _fence_of_lock, _fence_of_membarrier, register_membarrier
from orbitkv.errors import Corrupt

from .fake import EPOCH, memfd
from .support import until


class RingTest(unittest.TestCase):
    def setUp(self) -> None:
        fd = memfd("ring", ring.RING_BYTES)
        self.memory = ring.Memory(Mapping(fd, ring.RING_BYTES, True))
        os.close(fd)
        self.producer = ring.Producer(self.memory, ring.REQUESTS, EPOCH)
        self.consumer = ring.Consumer(self.memory, ring.REQUESTS)

    def tearDown(self) -> None:
        del self.producer, self.consumer
        self.memory.close()

    # Guard: Producer._room. Without the count of entries the 1,025th command is written over the first.
    def test_full_ring_takes_no_more_until_room_is_given_back(self) -> None:
        for number in range(ring.ENTRIES):
            self.assertTrue(self.producer.offer(0, number + 1, 0, 0, b""))
        self.assertFalse(self.producer.offer(0, 5000, 0, 0, b""))
        taken = self.consumer.take()
        assert taken is not None
        self.assertEqual(taken.request_id, 1)
        self.assertTrue(self.producer.offer(0, 5000, 0, 0, b""))
        self.assertFalse(self.producer.has_room(0))

    # Guard: Producer._fits and ._place. Without the lap a descriptor runs over the end of the arena.
    def test_descriptors_of_any_length_come_out_as_they_went_in(self) -> None:
        seed = time.time_ns()
        chance = random.Random(seed)
        inside: list[tuple[int, bytes]] = []
        for number in range(1, 400):
            size = chance.choice((0, 1, 63, 64, 65, 4096, 300_000, wire.DESCRIPTOR_LIMIT))
            data = chance.randbytes(64)[: min(size, 64)].ljust(size, bytes((number % 256,)))
            while not self.producer.offer(1, number, number, 2, data):
                self.assertTrue(inside, f"seed {seed}")
                self._take(inside, seed)
            inside.append((number, data))
            if chance.random() < 0.4:
                self._take(inside, seed)
        while inside:
            self._take(inside, seed)
        self.assertIsNone(self.consumer.take())

    def _take(self, inside: list[tuple[int, bytes]], seed: int) -> None:
        number, data = inside.pop(0)
        taken = self.consumer.take()
        assert taken is not None
        self.assertEqual((taken.request_id, taken.epoch), (number, EPOCH), f"seed {seed}")
        self.assertEqual(taken.descriptor, data, f"seed {seed}")

    # Guard: the checks of Consumer.take and ._descriptor.
    def test_producer_that_writes_nonsense_is_corrupt(self) -> None:
        for what, tail, at, raw in (
            ("tail too far", 1025, 0, b""),
            ("descriptor too long", 1, 4, struct.pack("<I", wire.DESCRIPTOR_LIMIT + 1)),
            ("offset outside", 1, 32, struct.pack("<Q", ring.ARENA_BYTES)),
            ("offset not aligned", 1, 32, struct.pack("<Q", 8)),
            ("lap too far", 1, 40, struct.pack("<Q", 3)),
            ("lap without end", 1, 40, struct.pack("<Q", (1 << 64) - 1)),
        ):
            with self.subTest(what):
                self.tearDown()
                self.setUp()
                self.producer.offer(0, 1, 0, 0, b"x")
                self.memory.bytes[4096 + at : 4096 + at + len(raw)] = raw
                self.memory.u64[1024 // 8] = tail
                with self.assertRaises(Corrupt):
                    self.consumer.take()

    # Guard: the test of Producer._take_back.
    def test_consumer_that_writes_nonsense_is_corrupt(self) -> None:
        for number in range(ring.ENTRIES):
            self.producer.offer(0, number + 1, 0, 0, b"")
        self.memory.u64[1152 // 8] = 5000
        with self.assertRaises(Corrupt):
            self.producer.offer(0, 9999, 0, 0, b"")


class NativeTest(unittest.TestCase):
    def test_every_kind_of_fence_works_here(self) -> None:
        register_membarrier()
        for make in (make_fence, _fence_of_lock, _fence_of_membarrier):
            make()()
        fence()

    # Guard: MADV_WIPEONFORK in ForkMark.
    def test_mark_is_gone_in_a_child(self) -> None:
        mark = ForkMark()
        self.assertTrue(mark.own())
        child = os.fork()
        if child == 0:
            os._exit(3 if mark.own() else 0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertTrue(mark.own())

    # Guard: LIBC being a CDLL. With a PyDLL no other thread runs during a copy.
    def test_copy_gives_the_gil_up(self) -> None:
        size = 64 << 20
        source, destination = mmap.mmap(-1, size), mmap.mmap(-1, size)
        to = ctypes.c_char.from_buffer(destination)
        of = ctypes.c_char.from_buffer(source)
        steps = 0
        stop = threading.Event()

        def work() -> None:
            nonlocal steps
            while not stop.is_set():
                steps += 1
                time.sleep(0)

        kept = sys.getswitchinterval()
        thread = threading.Thread(target=work)
        thread.start()
        try:
            until("the other thread runs", lambda: steps > 10)
            sys.setswitchinterval(1000)  # from here on a thread runs only if the other gives the GIL up
            time.sleep(0.02)  # the other thread's present wait for the GIL began before that
            before = steps
            memcpy(ctypes.addressof(to), ctypes.addressof(of), size)
            after = steps
        finally:
            sys.setswitchinterval(kept)
            stop.set()
            thread.join()
        del to, of
        self.assertGreater(after, before)

    # Guard: MADV_DONTFORK in Mapping. Without it the child reads the page and exits with 0.
    def test_mapping_stays_out_of_a_child(self) -> None:
        fd = memfd("page", 4096)
        mapping = Mapping(fd, 4096, True)
        child = os.fork()
        if child == 0:
            own = ctypes.create_string_buffer(8)
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, 2)
            memcpy(ctypes.addressof(own), mapping.address, 8)
            os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), -11)
        mapping.close()
        os.close(fd)
