"""The values behind docs/protocol/channel-vectors.properties; the Java client's test has the same."""

from __future__ import annotations

import pathlib

from orbitkv import wire
from orbitkv.errors import Fault
from orbitkv.wire import BlockName

EPOCH = bytes(range(16))
NAMES = [BlockName("", b"\0"), BlockName("mod\u00e8le", bytes(range(32))), BlockName("n" * 255, b"\1\2\3")]


def load(root: pathlib.Path) -> dict[str, bytes]:
    """Names and bytes of the file."""
    found = {}
    path = root / "docs" / "protocol" / "channel-vectors.properties"
    for line in path.read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found[name.strip()] = bytes.fromhex(value.strip())
    return found


def made() -> dict[str, bytes]:
    """The same, encoded by this client."""
    words = {
        "word.granted": 7 << 8 | 0x11,
        "word.revoked": 7 << 8 | 0x12,
        "word.reaped": 7 << 8 | 0x13,
        "word.active": 7 << 8 | 1,
        "word.part-drained": 7 << 8 | 2,
        "word.drained": 7 << 8 | 3,
        "word.failed": ((1 << 56) - 1) << 8 | 4,
    }
    return {
        "frame.header": wire.FrameHeader(2, 4, 24, wire.FRAME_MAGIC, 1, 3, (1 << 64) - 2, EPOCH).encode(),
        "frame.hello": wire.encode_hello("engine-\u00e8", 2),
        "frame.welcome": WELCOME.encode(),
        "frame.refused": wire.encode_refusal(5, "no room \u00e8"),
        "frame.register": wire.encode_host_memory(4096, 1 << 40),
        "frame.registered": wire.encode_registration(9, (1 << 64) - 1),
        "command": COMMAND.encode(),
        "names": wire.encode_names(NAMES),
        "pieces": wire.encode_pieces([wire.PieceEntry(1, 2, 4096, 8192, name) for name in NAMES]),
        "blocks": wire.encode_blocks(BLOCKS),
        "results": wire.encode_results(RESULTS),
        "restore": wire.encode_restore(10**9, 2, [6, 6, (1 << 63) - 1]),
        **{name: wire.u64(value) for name, value in words.items()},
    }


WELCOME = wire.Welcome(
    2,
    EPOCH,
    (1 << 64) - 3,
    63,
    (wire.Offer(1, 4096), wire.Offer(1, 1 << 40)),
    wire.Offer(1, 16_912_384),
    wire.PlansOffer(1, 1_249_280, 5),
    wire.Offer(1, 8192),
)
COMMAND = wire.Command(2, 0x8002, 0xFFFFFFFE, 0x1122334455667788, EPOCH, 64, 4, 5, (1 << 64) - 1)
BLOCKS = [wire.BlockEntry(0xFFFFFFFF, 2, 3, 4, 5, 6), wire.BlockEntry(0, 1, 0, 1 << 40, 1 << 21, (1 << 63) - 1)]
RECORD = wire.Record(7, 3, 2, 10_000, 1, 2, "revoked \u00e8")
PLANNED = wire.PlannedBlock(4, 1, 1 << 40, 1 << 21, (1 << 56) - 1)
RESULTS = [
    wire.ResultEntry(1, Fault.UNKNOWN, ""),
    wire.ResultEntry(2, Fault.UNKNOWN, ""),
    wire.ResultEntry(3, Fault.EXHAUSTED, "x" * 88),
]
