"""The bytes of the same-host channel: frames of the socket, commands of the ring, their descriptors.

Layouts: docs/protocol/channel.md. Everything is little-endian. Decoders raise :class:`Corrupt` and nothing else.
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass
from typing import Iterable, NamedTuple, Sequence

from .errors import Corrupt, Fault

VERSION = 2
FRAME_MAGIC = 0x43564B4F  # "OKVC"
FRAME_BYTES = 48
BODY_LIMIT = 64 << 20
NO_EPOCH = bytes(16)
NAMES_LIMIT = 65_536
PIECES_LIMIT = 16_384
DESCRIPTOR_LIMIT = 4 << 20
PLANS_VERSION = 1  # of the layout of the plans' and the claims' memory
PLANS_BYTES = 1_249_280
CLAIMS_BYTES = 8192

_FRAME = struct.Struct("<HHIIHHQQ16s")
_COMMAND = struct.Struct("<HHIQ16sQQQQ")
_FIELD = struct.Struct("<HHI")
_COUNT = struct.Struct("<II")
_BLOCK = struct.Struct("<IHHIIQQQ")
_PIECE = struct.Struct("<QQQQ")
_RESULT = struct.Struct("<HHHH88s")
_PAIR = struct.Struct("<QQ")
_PLANS = struct.Struct("<QQQ")
_RESTORE = struct.Struct("<QII")
_RECORD = struct.Struct("<QQIIQIIIIH6x88s48x")
_PLANNED = struct.Struct("<IIQQQ")
_OFFER = struct.Struct("<HHIQQ")
_REFUSAL = struct.Struct("<HHI")
_U64 = struct.Struct("<Q")


class Kind(enum.IntEnum):
    """What a frame of the socket is."""

    HELLO = 1
    WELCOME = 2
    REFUSED = 3
    REGISTER = 4
    REGISTERED = 5
    UNREGISTER = 6
    UNREGISTERED = 7
    STATUS = 8
    STATUS_TEXT = 9
    HEALTH = 10
    HEALTH_STATE = 11
    CLOSE = 12
    CLOSED = 13


class Opcode(enum.IntEnum):
    """What a command of the ring is."""

    PING = 0x0000
    PONG = 0x8000
    QUERY = 0x0001
    QUERY_ANSWER = 0x8001
    RELEASE = 0x0002
    RELEASE_ANSWER = 0x8002
    PUBLISH = 0x0003
    PUBLISH_ANSWER = 0x8003
    RESTORE = 0x0004
    PLAN = 0x8004
    POLL = 0x0005
    POLL_ANSWER = 0x8005
    CANCEL = 0x0006
    CANCEL_ANSWER = 0x8006
    CANCEL_PLAN = 0x0007
    CANCEL_PLAN_ANSWER = 0x8007
    RESTORE_ENDED = 0x0008
    RESTORE_ENDED_ANSWER = 0x8008
    OBSERVE = 0x0009
    OBSERVE_ANSWER = 0x8009
    REVISE = 0x000A
    REFUSAL = 0xFFFF


class BlockName(NamedTuple):
    """The opaque name of a block: ``namespace`` (at most 255 bytes of UTF-8), ``hash`` (1 to 255 bytes)."""

    namespace: str
    hash: bytes


class FrameHeader(NamedTuple):
    """The 48 bytes before the body of a frame."""

    version: int
    kind: int
    body_bytes: int
    magic: int
    descriptors: int
    request_id: int
    session: int
    epoch: bytes

    def encode(self) -> bytes:
        """The bytes."""
        return _FRAME.pack(*self[:5], 0, *self[5:])

    @classmethod
    def decode(cls, data: bytes | bytearray) -> "FrameHeader":
        """Reads the first 48 bytes; checks nothing else."""
        fields = _FRAME.unpack_from(data)
        return cls(*fields[:5], *fields[6:])


class Command(NamedTuple):
    """The 64 bytes of an entry of the ring."""

    version: int
    opcode: int
    descriptor_length: int
    request_id: int
    epoch: bytes
    descriptor_offset: int
    generation: int
    scalar0: int
    scalar1: int

    def encode(self) -> bytes:
        """The bytes."""
        return _COMMAND.pack(*self)

    @classmethod
    def decode(cls, data: bytes) -> "Command":
        """Reads 64 bytes; checks nothing."""
        return cls(*_COMMAND.unpack(data))


pack_command_into = _COMMAND.pack_into
unpack_command = _COMMAND.unpack


def encode_fields(fields: Iterable[tuple[int, bytes]]) -> bytes:
    """Typed fields, as in HELLO and WELCOME."""
    return b"".join(_FIELD.pack(kind, 0, len(value)) + value for kind, value in fields)


def decode_fields(what: str, body: bytes) -> list[tuple[int, bytes]]:
    """Typed fields; unknown types are the caller's to skip."""
    fields = []
    at = 0
    while at < len(body):
        if len(body) - at < _FIELD.size:
            raise Corrupt(f"{what}: a field is cut off")
        kind, _, length = _FIELD.unpack_from(body, at)
        at += _FIELD.size
        if length > len(body) - at:
            raise Corrupt(f"{what}: field {kind} of {length} bytes does not fit")
        fields.append((kind, body[at : at + length]))
        at += length
    return fields


def u64(value: int) -> bytes:
    """Eight bytes."""
    return _U64.pack(value)


def _read_u64(what: str, value: bytes) -> int:
    if len(value) != 8:
        raise Corrupt(f"{what} of {len(value)} bytes, needs 8")
    return int(_U64.unpack(value)[0])


def encode_hello(instance: str, role: int) -> bytes:
    """Body of HELLO: this client can not fence, and makes host copies only."""
    return encode_fields([(1, instance.encode()), (2, u64(role)), (3, u64(0)), (4, u64(0))])


class Offer(NamedTuple):
    """An arena (access 1 is read-only) or a ring (layout version) that WELCOME offers, and its length in bytes."""

    mode: int
    bytes: int


class PlansOffer(NamedTuple):
    """The memory of the plans that WELCOME offers: layout version, bytes, first generation that may be claimed."""

    version: int
    bytes: int
    first_generation: int


@dataclass(frozen=True)
class Welcome:
    """Body of WELCOME. A Manager without plans offers neither ``plans`` nor ``claims``."""

    version: int
    epoch: bytes
    session: int
    slot: int
    arenas: tuple[Offer, ...]
    ring: Offer
    plans: PlansOffer | None = None
    claims: Offer | None = None

    def encode(self) -> bytes:
        """The body."""
        arenas = [(5, _PAIR.pack(*arena)) for arena in self.arenas]
        plans = [(7, _PLANS.pack(*self.plans))] if self.plans else []
        claims = [(8, _PAIR.pack(*self.claims))] if self.claims else []
        return encode_fields(
            [
                (1, u64(self.version)),
                (2, self.epoch),
                (3, u64(self.session)),
                (4, u64(self.slot)),
                *arenas,
                (6, _PAIR.pack(*self.ring)),
                *plans,
                *claims,
            ]
        )

    @classmethod
    def decode(cls, body: bytes) -> "Welcome":
        """Reads the body; what is missing, or comes twice, is refused."""
        known: dict[int, bytes] = {}
        arenas: list[Offer] = []
        for kind, value in decode_fields("WELCOME", body):
            if kind == 5:
                arenas.append(_pair("arena of WELCOME", value))
            elif kind in (1, 2, 3, 4, 6, 7, 8):
                if kind in known:
                    raise Corrupt(f"WELCOME: field {kind} twice")
                known[kind] = value
        missing = {1, 2, 3, 4, 6} - known.keys()
        if missing or len(known[2]) != 16:
            raise Corrupt(f"WELCOME: fields {sorted(missing)} are missing, or the epoch is not of 16 bytes")
        return cls(
            _read_u64("version of WELCOME", known[1]),
            known[2],
            _read_u64("session of WELCOME", known[3]),
            _read_u64("slot of WELCOME", known[4]),
            tuple(arenas),
            _pair("ring of WELCOME", known[6]),
            _plans(known[7]) if 7 in known else None,
            _pair("claims of WELCOME", known[8]) if 8 in known else None,
        )


def _plans(value: bytes) -> PlansOffer:
    if len(value) != _PLANS.size:
        raise Corrupt(f"plans of WELCOME: {len(value)} bytes, needs 24")
    return PlansOffer(*_PLANS.unpack(value))


def _pair(what: str, value: bytes) -> Offer:
    if len(value) != _PAIR.size:
        raise Corrupt(f"{what}: {len(value)} bytes, needs 16")
    return Offer(*_PAIR.unpack(value))


def encode_refusal(code: int, text: str) -> bytes:
    """Body of REFUSED."""
    raw = text.encode()
    return _REFUSAL.pack(code, 0, len(raw)) + raw


def decode_refusal(body: bytes) -> tuple[int, str]:
    """Fault code and text of a REFUSED."""
    if len(body) < _REFUSAL.size:
        raise Corrupt(f"REFUSED of {len(body)} bytes")
    code, _, length = _REFUSAL.unpack_from(body)
    if length > 1024 or length > len(body) - _REFUSAL.size:
        raise Corrupt(f"REFUSED with a text of {length} bytes")
    return code, _text("REFUSED", body[_REFUSAL.size : _REFUSAL.size + length])


def encode_host_memory(offset: int, size: int) -> bytes:
    """Body of REGISTER for a range of a memfd."""
    return _OFFER.pack(1, 0, 0, offset, size)


def encode_registration(number: int, generation: int) -> bytes:
    """Body of REGISTERED and UNREGISTER."""
    return _PAIR.pack(number, generation)


def decode_registration(body: bytes) -> tuple[int, int]:
    """Registration id and generation."""
    offer = _pair("REGISTERED", body)
    return offer.mode, offer.bytes


def _text(what: str, raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as e:
        raise Corrupt(f"{what}: text is not UTF-8") from e


def encode_name(name: BlockName | tuple[str, bytes]) -> bytes:
    """One name; :class:`ValueError` if a part is too long or the hash is empty."""
    namespace, digest = name
    raw = namespace.encode()
    if len(raw) > 255:
        raise ValueError(f"namespace of {len(raw)} bytes; the limit is 255")
    if not 1 <= len(digest) <= 255:
        raise ValueError(f"block hash of {len(digest)} bytes; allowed are 1 to 255")
    return bytes((len(raw), len(digest))) + raw + bytes(digest)


def encode_names(names: Sequence[BlockName | tuple[str, bytes]]) -> bytes:
    """The descriptor of a query."""
    if len(names) > NAMES_LIMIT:
        raise ValueError(f"query of {len(names)} blocks; the limit is {NAMES_LIMIT}")
    encoded = _COUNT.pack(len(names), 0) + b"".join(map(encode_name, names))
    return _bounded("query", encoded)


def _bounded(what: str, encoded: bytes) -> bytes:
    if len(encoded) > DESCRIPTOR_LIMIT:
        raise ValueError(
            f"{what}: descriptor of {len(encoded)} bytes; the limit is {DESCRIPTOR_LIMIT}; name fewer blocks at once"
        )
    return encoded


def decode_names(descriptor: bytes) -> list[BlockName]:
    """The names of a query."""
    count = _count("names", descriptor, NAMES_LIMIT, 3)
    names = []
    at = _COUNT.size
    for _ in range(count):
        name, at = _decode_name(descriptor, at)
        names.append(name)
    _end("names", descriptor, at)
    return names


def _decode_name(descriptor: bytes, at: int) -> tuple[BlockName, int]:
    if len(descriptor) - at < 2:
        raise Corrupt("a block name is cut off")
    namespace, digest = descriptor[at], descriptor[at + 1]
    at += 2
    if digest == 0 or namespace + digest > len(descriptor) - at:
        raise Corrupt("a block name is cut off, or its hash is empty")
    text = _text("namespace", bytes(descriptor[at : at + namespace]))
    at += namespace
    return BlockName(text, bytes(descriptor[at : at + digest])), at + digest


def _count(what: str, descriptor: bytes, limit: int, smallest: int) -> int:
    if len(descriptor) < _COUNT.size:
        raise Corrupt(f"{what}: {len(descriptor)} bytes are no list")
    count = int(_COUNT.unpack_from(descriptor)[0])
    if count > limit or count * smallest > len(descriptor) - _COUNT.size:
        raise Corrupt(f"{what}: a count of {count} does not fit")
    return count


def _end(what: str, descriptor: bytes, at: int) -> None:
    if at != len(descriptor):
        raise Corrupt(f"{what}: {len(descriptor) - at} bytes behind the end")


_FETCHED = 2


class BlockEntry(NamedTuple):
    """One block of a query's answer: where it is, and which of the names asked for."""

    name_index: int
    origin: int
    arena: int
    offset: int
    size: int
    generation: int

    @property
    def fetched(self) -> bool:
        """Whether it came from a peer for this query."""
        return self.origin == _FETCHED


def encode_blocks(entries: Sequence[BlockEntry]) -> bytes:
    """The descriptor of a query's answer."""
    parts = [_COUNT.pack(len(entries), 0)]
    parts += [_BLOCK.pack(e.name_index, e.origin, 0, e.arena, 0, e.offset, e.size, e.generation) for e in entries]
    return b"".join(parts)


def decode_blocks(descriptor: bytes) -> list[BlockEntry]:
    """The blocks of a query's answer; numbers are not checked against anything."""
    if not descriptor:
        return []
    count = _count("blocks", descriptor, NAMES_LIMIT, _BLOCK.size)
    _end("blocks", descriptor, _COUNT.size + count * _BLOCK.size)
    return [
        BlockEntry(index, origin, arena, offset, size, generation)
        for index, origin, _, arena, _, offset, size, generation in _BLOCK.iter_unpack(descriptor[_COUNT.size :])
    ]


class PieceEntry(NamedTuple):
    """One piece of a publish: a range of registered memory and the name it gets."""

    registration: int
    generation: int
    offset: int
    size: int
    name: BlockName | tuple[str, bytes]


def encode_pieces(pieces: Sequence[tuple[int, int, int, int, BlockName | tuple[str, bytes]]]) -> bytes:
    """The descriptor of a publish: :class:`PieceEntry` each, or tuples of the same."""
    if not 1 <= len(pieces) <= PIECES_LIMIT:
        raise ValueError(f"publish of {len(pieces)} blocks; allowed are 1 to {PIECES_LIMIT}")
    parts = [_COUNT.pack(len(pieces), 0)]
    for registration, generation, offset, size, name in pieces:
        parts.append(_PIECE.pack(registration, generation, offset, size))
        parts.append(encode_name(name))
    return _bounded("publish", b"".join(parts))


def decode_pieces(descriptor: bytes) -> list[PieceEntry]:
    """The pieces of a publish."""
    count = _count("pieces", descriptor, PIECES_LIMIT, _PIECE.size + 3)
    pieces = []
    at = _COUNT.size
    for _ in range(count):
        if len(descriptor) - at < _PIECE.size:
            raise Corrupt("a piece is cut off")
        registration, generation, offset, size = _PIECE.unpack_from(descriptor, at)
        name, at = _decode_name(descriptor, at + _PIECE.size)
        pieces.append(PieceEntry(registration, generation, offset, size, name))
    _end("pieces", descriptor, at)
    return pieces


class ResultEntry(NamedTuple):
    """What became of one piece: 1 stored, 2 present, 3 fault."""

    status: int
    fault: Fault
    text: str


def encode_results(results: Sequence[ResultEntry]) -> bytes:
    """The descriptor of a publish's answer."""
    parts = [_COUNT.pack(len(results), 0)]
    for status, fault, text in results:
        raw = text.encode()
        parts.append(_RESULT.pack(status, fault, len(raw), 0, raw))
    return b"".join(parts)


def decode_results(descriptor: bytes) -> list[ResultEntry]:
    """The results of a publish, in the order of the pieces."""
    count = _count("results", descriptor, PIECES_LIMIT, _RESULT.size)
    _end("results", descriptor, _COUNT.size + count * _RESULT.size)
    results = []
    for status, fault, length, _, text in _RESULT.iter_unpack(descriptor[_COUNT.size :]):
        if length > 88:
            raise Corrupt(f"results: a text of {length} bytes; the limit is 88")
        results.append(ResultEntry(status, Fault.of_wire(fault), _text("result", text[:length])))
    return results


def encode_restore(deadline_ns: int, redeemers: int, generations: Sequence[int]) -> bytes:
    """The descriptor of a RESTORE: the generations of allocations, as a query's answer told them."""
    head = _RESTORE.pack(deadline_ns, redeemers, len(generations))
    return _bounded("restore", head + struct.pack(f"<{len(generations)}Q", *generations))


def encode_revision(keep: int) -> bytes:
    """The descriptor of a REVISE: how many blocks to keep."""
    return _COUNT.pack(keep, 0)


class Record(NamedTuple):
    """A record of the plans' memory, but for the Manager's word."""

    generation: int
    first_block: int
    blocks: int
    size: int
    kind: int
    redeemers: int
    text: str

    @classmethod
    def decode(cls, data: bytes) -> "Record":
        """Reads 192 bytes; numbers are not checked against anything."""
        _, generation, first, count, size, kind, redeemers, _, _, length, text = _RECORD.unpack(data)
        return cls(generation, first, count, size, kind, redeemers, text[: min(length, 88)].decode(errors="replace"))


class PlannedBlock(NamedTuple):
    """A block of the plan bank."""

    name_index: int
    arena: int
    offset: int
    size: int
    generation: int


def decode_planned(data: bytes) -> list[PlannedBlock]:
    """Blocks of the plan bank, 32 bytes each."""
    return [PlannedBlock(*fields) for fields in _PLANNED.iter_unpack(data)]
