"""The layouts: the bytes that both clients agree on, and what they make of bytes that are none."""

from __future__ import annotations

import random
import time
import unittest

from orbitkv import wire
from orbitkv.errors import Corrupt, Fault

from . import vectors
from .support import ROOT


class VectorsTest(unittest.TestCase):
    """Guard: the file, which the Java client's test reads too."""

    def test_encodes_to_the_bytes_of_the_file(self) -> None:
        known = vectors.load(ROOT)
        made = vectors.made()
        self.assertEqual(set(known) - set(made), {"plan.record", "plan.block"})  # which only a Manager writes
        for name, data in made.items():
            self.assertEqual(known[name].hex(), data.hex(), name)

    def test_decodes_the_bytes_of_the_file(self) -> None:
        known = vectors.load(ROOT)
        header = wire.FrameHeader(2, 4, 24, wire.FRAME_MAGIC, 1, 3, (1 << 64) - 2, vectors.EPOCH)
        self.assertEqual(wire.FrameHeader.decode(known["frame.header"]), header)
        self.assertEqual(wire.Welcome.decode(known["frame.welcome"]), vectors.WELCOME)
        self.assertEqual(wire.decode_refusal(known["frame.refused"]), (5, "no room \u00e8"))
        self.assertEqual(wire.decode_registration(known["frame.registered"]), (9, (1 << 64) - 1))
        self.assertEqual(wire.Command.decode(known["command"]), vectors.COMMAND)
        self.assertEqual(wire.decode_names(known["names"]), vectors.NAMES)
        pieces = [wire.PieceEntry(1, 2, 4096, 8192, name) for name in vectors.NAMES]
        self.assertEqual(wire.decode_pieces(known["pieces"]), pieces)
        self.assertEqual(wire.decode_blocks(known["blocks"]), vectors.BLOCKS)
        self.assertEqual(wire.decode_results(known["results"]), vectors.RESULTS)
        self.assertEqual(wire.Record.decode(known["plan.record"]), vectors.RECORD)
        self.assertEqual(wire.decode_planned(known["plan.block"]), [vectors.PLANNED])


class BoundsTest(unittest.TestCase):
    # Guard: the bounds that every decoder checks before it reads, as _end in decode_blocks.
    def test_random_bytes_are_corrupt_and_nothing_else(self) -> None:
        seed = time.time_ns()
        chance = random.Random(seed)
        decoders = [
            wire.decode_names,
            wire.decode_pieces,
            wire.decode_blocks,
            wire.decode_results,
            wire.Welcome.decode,
            wire.decode_refusal,
            wire.decode_registration,
        ]
        refused = 0
        for _ in range(4000):
            data = chance.randbytes(chance.randrange(120))
            if len(data) > 3 and chance.random() < 0.5:
                data = bytes((chance.randrange(4), 0, 0, 0)) + data[4:]  # a small count leads further in
            for decoder in decoders:
                try:
                    decoder(data)
                except Corrupt:
                    refused += 1
                except Exception as e:
                    self.fail(f"seed {seed}: {decoder.__name__} of {data.hex()} raised {e!r}")
        self.assertGreater(refused, 4000)

    # Guard: the limits in encode_names, encode_name and encode_pieces.
    def test_what_is_too_long_is_refused_before_it_is_sent(self) -> None:
        for names in ([("n", b"")], [("n", bytes(256))], [("n" * 256, b"1")], [("n", b"1")] * 65_537):
            with self.assertRaises(ValueError):
                wire.encode_names(names)
        with self.assertRaises(ValueError):
            wire.encode_names([("n" * 255, bytes(255))] * 9000)  # more than a descriptor holds
        with self.assertRaises(ValueError):
            wire.encode_pieces([])

    def test_fault_codes_of_a_newer_release_read_as_unknown(self) -> None:
        self.assertIs(Fault.of_wire(999), Fault.UNKNOWN)
        self.assertIs(Fault.of_wire(17), Fault.INTERNAL)
