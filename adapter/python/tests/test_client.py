"""The client with a real Manager."""

from __future__ import annotations

import array
import ctypes
import fcntl
import os
import threading
import time
import unittest
from typing import Any

import orbitkv
from orbitkv import Fault

from .support import DEADLINE, Manager, name, needs_manager, publish, shared, until


class Tensor:
    """What a CPU tensor of PyTorch looks like to the client."""

    def __init__(self, size: int, device: str = "cpu", contiguous: bool = True) -> None:
        self.memory = (ctypes.c_char * size)()
        self.device = device
        self._contiguous = contiguous

    def data_ptr(self) -> int:
        return ctypes.addressof(self.memory)

    def numel(self) -> int:
        return len(self.memory) // 2

    def element_size(self) -> int:
        return 2

    def is_contiguous(self) -> bool:
        return self._contiguous


@needs_manager
class ClientTest(unittest.TestCase):
    client: orbitkv.Client

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = orbitkv.connect(shared().socket, instance="python-tests", role="worker", timeout=DEADLINE)
        cls.addClassCleanup(cls.client.close)

    def leases(self) -> int:
        return int(self.client.status()["leases"]["open"])

    def test_round_trips(self) -> None:
        for _ in range(1000):
            self.client.ping()
        self.assertEqual(self.client.health(), "open")
        self.assertEqual(len(self.client.manager_epoch), 32)
        self.assertTrue(self.client.peer_alive())
        self.assertTrue(self.client.connected)

    def test_blocks_come_back_as_they_were(self) -> None:
        blocks = {name(): os.urandom(size) for size in (1, 4095, 4096, 100_001, 1 << 20)}
        publish(self.client, blocks)
        missing = name()
        with self.client.query([*blocks, missing]) as lease:
            self.assertEqual([block.name for block in lease.blocks], list(blocks))
            self.assertEqual([block.index for block in lease.blocks], list(range(len(blocks))))
            self.assertEqual(lease.bytes, sum(map(len, blocks.values())))
            buffers = [bytearray(block.bytes) for block in lease.blocks]
            self.assertEqual(lease.copy_all(buffers), lease.bytes)
            self.assertEqual(buffers, [bytearray(data) for data in blocks.values()])
        until("the lease is released", lambda: self.leases() == 0)

    def test_copies_into_every_kind_of_buffer(self) -> None:
        block, data = name(), os.urandom(4096)
        publish(self.client, {block: data})
        longer = bytearray(b"z" * 5000)
        view = memoryview(bytearray(6000))[100:5000]
        shorts = array.array("H", bytes(4096))
        native = (ctypes.c_char * 4096)()
        tensor = Tensor(4096)
        buffers: list[Any] = [longer, view, shorts, native, tensor, memoryview(bytearray(4096)).cast("I", (32, 32))]
        with self.client.query([block]) as lease:
            for buffer in buffers:
                self.assertEqual(lease.copy_into(0, buffer), 4096)
                self.assertEqual(bytes(tensor.memory if buffer is tensor else memoryview(buffer).cast("B"))[:4096], data)
            self.assertEqual(longer[4096:], b"z" * 904)
            self.assertEqual(lease.copy_into(-1, bytearray(4096)), 4096)

    # Guard: the checks of Destination and Source.destination. Without them the process crashes or memory is overwritten.
    def test_buffers_that_will_not_do_are_refused_and_left_alone(self) -> None:
        block = name()
        publish(self.client, {block: bytes(4096)})
        with self.client.query([block]) as lease:
            kept = bytearray(b"k" * 4095)
            for buffer, error in (
                (kept, ValueError),
                (b"r" * 4096, TypeError),
                (memoryview(bytearray(8192))[::2], TypeError),
                (Tensor(4096, device="cuda:0"), TypeError),
                (Tensor(4096, contiguous=False), TypeError),
                (Tensor(4094), ValueError),
                ("text", TypeError),
            ):
                with self.assertRaises(error):
                    lease.copy_into(0, buffer)
                with self.assertRaises(error):
                    lease.copy_all([buffer])
            self.assertEqual(kept, b"k" * 4095)
            with self.assertRaises(IndexError):
                lease.copy_into(1, bytearray(4096))
            with self.assertRaises(ValueError):
                lease.copy_all([])
        # A buffer that could be resized under the copy is not held any longer than that.
        kept.extend(b"more")

    # Guard: Lease._enter looking at _closed.
    def test_closed_lease_copies_nothing(self) -> None:
        block = name()
        publish(self.client, {block: b"bytes"})
        lease = self.client.query([block])
        lease.close()
        lease.close()
        kept = bytearray(5)
        with self.assertRaises(orbitkv.LeaseEnded):
            lease.copy_into(0, kept)
        self.assertEqual(kept, bytes(5))

    # Guard: Lease.__del__. Without it the Manager holds the block until this process exits.
    def test_dropped_lease_is_released_with_the_next_command(self) -> None:
        block = name()
        publish(self.client, {block: b"bytes"})
        until("no lease is open", lambda: self.leases() == 0)
        with self.assertWarns(ResourceWarning):
            lease = self.client.query([block])
            self.assertEqual(self.leases(), 1)
            del lease
        self.client.ping()
        until("the lease is released", lambda: self.leases() == 0)

    def test_present_is_told_and_the_first_publish_wins(self) -> None:
        block = name()
        publish(self.client, {block: b"first"})
        with self.client.register(4096) as memory:
            memory.buffer[:6] = b"second"
            publication = self.client.publish([orbitkv.Piece(block, memory, 0, 6)], digest=True)
            results = publication.wait(DEADLINE)
            self.assertEqual([result.status for result in results or []], ["present"])
            self.assertFalse(publication.pending)
            self.assertEqual(publication.wait(0), results)
        with self.client.query([block]) as lease:
            page = bytearray(5)
            lease.copy_into(0, page)
        self.assertEqual(page, b"first")

    def test_answer_ends_at_the_first_miss_if_asked(self) -> None:
        here, missing, behind = name(), name(), name()
        publish(self.client, {here: b"1", behind: b"2"})
        with self.client.query([here, missing, behind], stop_at_first_miss=True) as lease:
            self.assertEqual([block.index for block in lease], [0])
        with self.client.query([here, missing, behind], fetch=True) as lease:
            self.assertEqual([block.index for block in lease], [0, 2])
            self.assertEqual([block.fetched for block in lease], [False, False])

    def test_nothing_found_is_an_empty_lease(self) -> None:
        with self.client.query([name()], fetch=True, timeout=1) as lease:
            self.assertEqual(len(lease), 0)
            self.assertEqual(lease.copy_all([]), 0)
        self.assertEqual(self.client.query([]).blocks, ())

    # Guard: the Manager's check of ranges; a fault is told for its piece alone.
    def test_piece_outside_of_its_memory_is_a_fault_of_its_own(self) -> None:
        good, bad = name(), name()
        with self.client.register(4096) as memory:
            pieces = [orbitkv.Piece(bad, memory, 4000, 200), orbitkv.Piece(good, memory, 0, 10)]
            results = self.client.publish(pieces).wait(DEADLINE) or []
        self.assertEqual([result.status for result in results], ["fault", "stored"])
        self.assertIs(results[0].fault, Fault.INVALID)
        self.assertTrue(results[0].detail)

    def test_memory_of_a_memfd_can_be_registered(self) -> None:
        fd = os.memfd_create("engine", os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, 3 * 4096)
            with self.assertRaises(orbitkv.Refused) as refusal:
                self.client.register(fd=fd)  # not sealed
            self.assertIs(refusal.exception.fault, Fault.INVALID)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
            block = name()
            with self.client.register(4096, fd=fd, offset=4096) as memory:
                os.pwrite(fd, b"through the file", 4096)
                self.assertEqual(bytes(memory.buffer[:16]), b"through the file")
                results = self.client.publish([orbitkv.Piece(block, memory, 0, 16)]).wait(DEADLINE)
                self.assertEqual([result.status for result in results or []], ["stored"])
        finally:
            os.close(fd)
        with self.client.query([block]) as lease:
            page = bytearray(16)
            lease.copy_into(0, page)
        self.assertEqual(page, b"through the file")

    # Guard: the generation of a registration in every piece.
    def test_closed_memory_is_not_published(self) -> None:
        memory = self.client.register(4096)
        piece = orbitkv.Piece(name(), memory, 0, 10)
        memory.close()
        memory.close()
        with self.assertRaises(orbitkv.Closed):
            self.client.publish([piece])
        with self.assertRaises(orbitkv.Closed):
            memory.buffer

    def test_memory_that_is_viewed_can_be_closed(self) -> None:
        memory = self.client.register(4096)
        view = memory.buffer[:10]
        memory.close()
        view[:] = b"0123456789"  # still mapped
        view.release()

    def test_bad_arguments_change_nothing(self) -> None:
        for call in (
            lambda: self.client.query([("n", b"1")], timeout=0),
            lambda: self.client.query([("n", b"1")], timeout=3601),
            lambda: self.client.query([("n", b"")]),
            lambda: self.client.register(0),
            lambda: self.client.publish([]),
            lambda: orbitkv.connect(shared().socket, role="nobody"),
            lambda: orbitkv.connect(shared().socket, instance=""),
            lambda: orbitkv.connect("/" + "x" * 107),
        ):
            with self.assertRaises(ValueError):
                call()
        self.client.ping()

    # Guard: Session._park and ._hand_on. Without the hand-on threads wait for their timeout, which fails them.
    def test_many_threads_share_a_client(self) -> None:
        block, data = name(), os.urandom(1000)
        publish(self.client, {block: data})
        failures: list[BaseException] = []

        def work() -> None:
            try:
                for number in range(150):
                    if number % 3:
                        self.client.ping()
                    else:
                        with self.client.query([block]) as lease:
                            page = bytearray(1000)
                            lease.copy_into(0, page)
                            assert page == data
            except BaseException as e:
                failures.append(e)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE * 2)
            self.assertFalse(thread.is_alive())
        self.assertEqual(failures, [])
        until("no lease is open", lambda: self.leases() == 0)

    def test_candidates_of_this_host_are_told_without_a_lease(self) -> None:
        here = name()
        publish(self.client, {here: b"1"})
        try:
            blocks = self.client.candidates([here, name()])
        except orbitkv.Refused as e:
            self.skipTest(f"this Manager does not answer candidates: {e}")
        self.assertEqual([block.index for block in blocks], [0])


@needs_manager
class BetweenProcessesTest(unittest.TestCase):
    def test_closed_client_refuses_in_one_line(self) -> None:
        client = orbitkv.connect(shared().socket)
        lease = client.query([name()])
        client.close()
        client.close()
        self.assertFalse(client.connected)
        for call in (client.ping, lambda: client.query([name()]), client.status, lambda: client.register(1)):
            with self.assertRaisesRegex(orbitkv.Closed, "connect again"):
                call()
        lease.close()

    # Guard: the lease's expiry in Lease._enter.
    def test_expired_lease_copies_nothing(self) -> None:
        manager = Manager("--lease-lifetime", "1s")
        self.addCleanup(manager.end)
        with orbitkv.connect(manager.socket) as client:
            block = name()
            publish(client, {block: b"bytes"})
            with client.query([block]) as lease:
                kept = bytearray(5)
                until("the lease has expired", lambda: lease.expired)
                with self.assertRaises(orbitkv.LeaseEnded):
                    lease.copy_into(0, kept)
                with self.assertRaises(orbitkv.LeaseEnded):
                    lease.copy_all([kept])
                self.assertEqual(kept, bytes(5))

    # Guard: Session._offer telling when the ring is full, and Session._submit_later waiting.
    def test_stopped_manager_is_waited_for_and_nothing_is_lost(self) -> None:
        manager = Manager()
        self.addCleanup(manager.end)
        with orbitkv.connect(manager.socket, timeout=0.5) as client:
            memory = client.register(4096)
            self.addCleanup(memory.close)
            manager.stop()
            try:
                with self.assertRaises(orbitkv.DeadlineExceeded):
                    client.ping()
                publication = client.publish([orbitkv.Piece(name(), memory, 0, 10)])
                self.assertIsNone(publication.wait(0.2))
                self.assertTrue(publication.pending)
                until("it is overdue", lambda: client.activity().overdue == 1)
                activity = client.activity()
                self.assertEqual((activity.active, activity.retained, activity.manager_alive), (1, 10, True))
                begin = time.monotonic()
                with self.assertRaises(orbitkv.SaveNotSubmitted) as failure:
                    for _ in range(2000):
                        client.publish([orbitkv.Piece(name(), memory, 0, 10)])
                self.assertIs(failure.exception.fault, Fault.DEADLINE)
                self.assertLess(time.monotonic() - begin, DEADLINE)
            finally:
                manager.resume()
            results = publication.wait(DEADLINE)
            self.assertEqual([result.status for result in results or []], ["stored"])
            until("all are answered", lambda: client.activity().active == 0)
            client.ping()
