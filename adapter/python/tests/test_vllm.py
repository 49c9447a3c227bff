"""Names of blocks and options of the vLLM connector: what needs no vLLM. verify-engines checks the rest."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import pathlib
import shutil
import tempfile
import time
import unittest

import orbitkv
from orbitkv.vllm.keys import Adapters, UnknownWeights, engine_instance, weights_of
from orbitkv.vllm.link import ManagerLink
from orbitkv.vllm.lookup import Lookup, Probe, Shard, Turns
from orbitkv.vllm.options import OptionError, Options
from orbitkv.vllm.placement import Placement, Run
from orbitkv.vllm.touch import Toucher, pieces_of

from .support import DEADLINE, Manager, needs_manager, publish, until


def safetensors(tensors: dict[str, bytes]) -> bytes:
    """A file of that format, its tensors one behind the other."""
    header = {}
    at = 0
    for name, data in tensors.items():
        header[name] = {"dtype": "U8", "shape": [len(data)], "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(tensors.values())


class WeightsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # A small tensor between large ones, away from every MiB.
        self.tensors = {"a": b"\1" * 1_500_000, "norm": b"\2" * 64, "b": b"\3" * 3_000_000}
        self.write()

    def write(self) -> None:
        (self.folder / "model.safetensors").write_bytes(safetensors(self.tensors))
        (self.folder / "config.json").write_text("{}")

    # Guard: _tensors. Without it the small tensor lies between two samples.
    def test_each_tensor_counts(self) -> None:
        before = weights_of(self.folder)
        self.assertEqual(before, weights_of(self.folder))
        for name, data in list(self.tensors.items()):
            self.tensors[name] = b"\7" * len(data)
            self.write()
            self.assertNotEqual(before, weights_of(self.folder), name)
            self.tensors[name] = data
        self.write()
        self.assertEqual(before, weights_of(self.folder))

    # Guard: the step of _sampled. Without it a change behind the begin of a tensor is not seen.
    def test_each_mebibyte_counts(self) -> None:
        before = weights_of(self.folder)
        self.tensors["b"] = self.tensors["b"][:1_000_000] + b"\7" * 1_100_000 + self.tensors["b"][2_100_000:]
        self.write()
        self.assertNotEqual(before, weights_of(self.folder))

    # Guard: the count of weights. Without it every folder without any is the same model.
    def test_folder_without_weights_is_unknown(self) -> None:
        (self.folder / "model.safetensors").unlink()
        with self.assertRaises(UnknownWeights):
            weights_of(self.folder)

    # Guard: Adapters compares what it saw of the files. Without it the old name goes on.
    def test_adapter_replaced_in_place_is_another(self) -> None:
        adapters = Adapters()
        before = adapters.of(str(self.folder))
        self.assertEqual(before, adapters.of(str(self.folder)))
        self.tensors["norm"] = b"\7" * 64
        self.write()
        os.utime(self.folder / "model.safetensors", ns=(1, 1))
        self.assertNotEqual(before, adapters.of(str(self.folder)))

    # Guard: Adapters.of says None. Without it two revisions behind one path share a name.
    def test_adapter_that_can_not_be_seen_has_no_name(self) -> None:
        self.assertIsNone(Adapters().of("organisation/adapter"))
        (self.folder / "model.safetensors").unlink()
        self.assertIsNone(Adapters().of(str(self.folder)))

    def test_instance_fits_the_channel(self) -> None:
        self.assertEqual("vllm-x", engine_instance("x"))
        self.assertLessEqual(len(engine_instance("x" * 100)), 64)
        self.assertNotEqual(engine_instance("x" * 100), engine_instance("x" * 99 + "y"))


class OptionsTest(unittest.TestCase):
    # Guard: Options.of compares with its fields. Without it a typing error is silently the default.
    def test_unknown_option_is_an_error(self) -> None:
        with self.assertRaisesRegex(OptionError, "orbitkv.lookup_timout is not known"):
            Options.of({"orbitkv.bootstrap_socket": "/s", "orbitkv.lookup_timout": 1}, {})

    def test_socket_is_needed_and_found(self) -> None:
        with self.assertRaisesRegex(OptionError, "orbitkv.bootstrap_socket is missing"):
            Options.of({}, {})
        self.assertEqual("/e", Options.of({}, {"ORBITKV_BOOTSTRAP_SOCKET": "/e"}).bootstrap_socket)
        shards = Options.of({"orbitkv.tp_shard_bootstrap_sockets": ["/a", "/b"]}, {})
        self.assertEqual("/b", shards.socket(1))
        with self.assertRaisesRegex(OptionError, "rank 2"):
            shards.socket(2)

    def test_values_are_checked(self) -> None:
        for key, value in (
            ("orbitkv.lookup_timeout", 0),
            ("orbitkv.lookup_timeout", True),
            ("orbitkv.staging_bytes", 1),
            ("orbitkv.save", "no"),
            ("orbitkv.tp_shard_bootstrap_sockets", "/a"),
        ):
            with self.subTest(key=key, value=value), self.assertRaisesRegex(OptionError, key):
                Options.of({"orbitkv.bootstrap_socket": "/s", key: value}, {})


class PlacementTest(unittest.TestCase):
    # Guard: the range check of Placement.segments. Without it a copy goes outside of the cache.
    def test_blocks_outside_are_refused(self) -> None:
        placement = Placement((Run(1000, 10, 10), Run(5000, 20, 10)), 3, ())
        self.assertEqual([(1020, 10), (5040, 10)], placement.segments(2))
        self.assertEqual(20, placement.block_bytes)
        for block in (-1, 3):
            with self.assertRaises(IndexError):
                placement.segments(block)


class ToucherTest(unittest.TestCase):
    # Guard: populate in Toucher._run. Without it the first load of each block waits for its page faults.
    def test_pages_come_and_content_stays(self) -> None:
        blocks, size, strays = 64, 192 << 10, 100
        whole = blocks * size - 2 * mmap.PAGESIZE
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        with mmap.mmap(-1, blocks * size + mmap.PAGESIZE, flags=private) as memory:
            memory[5 * size : 5 * size + 5] = b"older"
            view = (ctypes.c_char * len(memory)).from_buffer(memory)
            address = ctypes.addressof(view)
            # Begins and ends inside of pages.
            toucher = Toucher(pieces_of(Placement((Run(address + strays, size, size),), blocks, ())))
            until("all whole pages of it are there", lambda: present(address, blocks * size) >= whole)
            toucher.close()
            self.assertEqual(b"older", memory[5 * size : 5 * size + 5])
            self.assertEqual(0, memory[6 * size])
            del view


def present(address: int, size: int) -> int:
    """Bytes of a range whose pages are there."""
    seen = (ctypes.c_ubyte * (size // mmap.PAGESIZE))()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), seen) != 0:
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(page & 1 for page in seen) * mmap.PAGESIZE


class TurnsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.turns = Turns(DEADLINE, most=2)
        self.first, self.second = object(), object()
        self.turns.take(self.first)
        self.turns.take(self.second)

    # Guard: MOST_LOOKUPS in Turns.free. Without it a Manager refuses most of a burst, which is computed then.
    def test_few_ask_at_a_time(self) -> None:
        self.assertFalse(self.turns.free)
        self.turns.end(self.first)
        self.turns.end(self.first)
        self.assertTrue(self.turns.free)
        self.assertEqual(1, self.turns.out)

    # Guard: Turns.pass_over. Without it a request waits for as long as others come behind it.
    def test_nobody_asks_before_who_was_passed_over(self) -> None:
        self.turns.pass_over()
        self.turns.end(self.first)
        self.assertFalse(self.turns.free)
        self.turns.next_step()
        self.assertTrue(self.turns.free)

    # Guard: the clock of Turns. Without it all wait for a request that the engine does not look at.
    def test_nobody_waits_for_a_lookup_that_nobody_looks_at(self) -> None:
        turns = Turns(0.1, most=1)
        turns.take(self.first)
        self.assertFalse(turns.free)
        until("its turn is over", lambda: turns.next_step() or turns.free)

    # Guard: Turns.refused. Without it all that wait are refused in each step.
    def test_nobody_asks_for_a_moment_after_a_refusal(self) -> None:
        self.turns.end(self.first)
        self.turns.refused()
        self.assertFalse(self.turns.free)
        until("somebody may ask", lambda: self.turns.free)


@needs_manager
class LookupTest(unittest.TestCase):
    def setUp(self) -> None:
        self.manager = Manager()
        self.addCleanup(self.manager.end)
        self.client = orbitkv.connect(self.manager.socket, instance="lookup", role="scheduler", timeout=DEADLINE)
        self.addCleanup(self.client.close)

    def lookup(self, hashes: list[bytes], timeout: float) -> Lookup:
        return Lookup([Shard(0, self.client, "lookup")], hashes, 0, timeout)

    # Guard: Lookup.poll keeps when it was answered. Without it an answer that waits becomes a late one.
    def test_answer_that_is_kept_does_not_become_late(self) -> None:
        there = [os.urandom(32) for _ in range(2)]
        publish(self.client, {orbitkv.BlockName("lookup", h): os.urandom(4096) for h in there})
        lookup = self.lookup([*there, os.urandom(32)], 2)
        self.assertTrue(lookup.spin(DEADLINE))
        self.assertFalse(lookup.timed_out)
        while time.monotonic() < lookup.began + 2.1:
            self.assertTrue(lookup.poll())
        self.assertFalse(lookup.timed_out)
        self.assertEqual(2, lookup.blocks)
        lookup.cancel()
        until("nothing is held", lambda: self.client.status()["pool"]["holds"] == 0)

    # Guard: Lookup.refused. Without it what a Manager has no room for counts as not there.
    def test_question_without_room_is_told_from_a_miss(self) -> None:
        registry = tempfile.mkdtemp(prefix="okvpy-", dir="/tmp")
        self.addCleanup(shutil.rmtree, registry, True)
        together = ("--membership", "local", "--registry-directory", registry)
        peer = Manager(*together)
        self.addCleanup(peer.end)
        asked = Manager(*together, "--queries-per-session=1")
        self.addCleanup(asked.end)
        with orbitkv.connect(asked.socket, instance="lookup", role="scheduler", timeout=DEADLINE) as client:
            until("they know each other", lambda: client.status()["peers"])
            peer.stop()
            shards = [Shard(0, client, "lookup")]
            pending = Lookup(shards, [os.urandom(32)], 0, DEADLINE)
            lookup = Lookup(shards, [os.urandom(32)], 0, DEADLINE)
            self.assertTrue(lookup.spin(DEADLINE))
            self.assertTrue(lookup.refused)
            self.assertFalse(pending.poll())
            pending.cancel()
            peer.resume()

    # Guard: the clock of Lookup.poll. Without it a request waits for a frozen Manager for ever.
    def test_frozen_manager_is_a_miss_by_the_clock(self) -> None:
        self.manager.stop()
        lookup = self.lookup([os.urandom(32)], 0.1)
        self.assertTrue(lookup.spin(DEADLINE))
        self.assertTrue(lookup.timed_out)
        self.assertTrue(lookup.stalled)
        self.assertEqual(0, lookup.blocks)
        self.manager.resume()

    # Guard: Lookup._late. Without it an answer that was seen late, behind a long step, ends the wait of all others.
    def test_answer_that_was_seen_late_is_not_stalled(self) -> None:
        lookup = self.lookup([os.urandom(32)], 0.2)
        time.sleep(0.3)  # what is tested is that nobody has looked meanwhile
        self.assertTrue(lookup.spin(DEADLINE))
        self.assertTrue(lookup.timed_out)
        self.assertFalse(lookup.stalled)

    # Guard: `soon` in Probe.poll. Without it a Manager that gave up on a frozen peer makes the next request wait again.
    def test_probe_that_brought_nothing_counts_only_soon(self) -> None:
        shards = [Shard(0, self.client, "lookup")]
        soon = Probe(shards, [os.urandom(32)], DEADLINE, DEADLINE)
        until("it is answered", lambda: soon.poll() is not None)
        self.assertTrue(soon.poll())
        late = Probe(shards, [os.urandom(32)], DEADLINE, 0.2)
        time.sleep(0.2)  # what is tested is that this time has passed
        until("it is answered", lambda: late.poll() is not None)
        self.assertFalse(late.poll())

    # Guard: the origin in FetchOperation.claim. Without it what the engine computed itself counts as brought by the
    # peer that is frozen, and the next request waits for that one again.
    def test_probe_is_not_fooled_by_what_the_engine_saved(self) -> None:
        registry = tempfile.mkdtemp(prefix="okvpy-", dir="/tmp")
        self.addCleanup(shutil.rmtree, registry, True)
        together = ("--membership", "local", "--registry-directory", registry)
        peer, asked = Manager(*together), Manager(*together)
        self.addCleanup(peer.end)
        self.addCleanup(asked.end)
        with orbitkv.connect(asked.socket, instance="lookup", role="scheduler", timeout=DEADLINE) as client:
            until("they know each other", lambda: client.status()["peers"])
            peer.stop()
            wanted = os.urandom(32)
            probe = Probe([Shard(0, client, "lookup")], [wanted], DEADLINE, 0)
            publish(client, {orbitkv.BlockName("lookup", wanted): os.urandom(4096)})
            until("it is answered", lambda: probe.poll() is not None)
            self.assertFalse(probe.poll())
            peer.resume()


@needs_manager
class LinkTest(unittest.TestCase):
    # Guard: ManagerLink._seek. Without it an engine never finds the Manager that came back.
    def test_lost_manager_is_found_again(self) -> None:
        manager = Manager()
        self.addCleanup(manager.end)
        link = ManagerLink(manager.socket, "link", "scheduler")
        self.addCleanup(link.close)
        link.start(required=True)
        before = link.epoch
        manager.kill()
        until("the loss is seen", lambda: link.client is None)
        again = Manager()
        self.addCleanup(again.end)
        os.replace(again.socket, manager.socket)
        until("it is found again", lambda: link.epoch)
        self.assertNotEqual(before, link.epoch)
        (lost,) = link.lost()
        lost.close()

    def test_absent_manager_is_refused_with_the_way_out(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "/tmp/nobody.sock.*orbitkv.require_manager=false"):
            ManagerLink("/tmp/nobody.sock", "link", "scheduler").start(required=True)


if __name__ == "__main__":
    unittest.main()
