"""OrbitKV: the client of the same-host channel for Python engines. Standard library only.

    with orbitkv.connect("/tmp/orbitkv-127.0.0.1-50051.sock") as client:
        memory = client.register(2 << 20)
        memory.buffer[:5] = b"bytes"
        client.publish([orbitkv.Piece(("model", b"hash"), memory, 0, 2 << 20)]).wait()
        with client.query([("model", b"hash")]) as lease:
            page = bytearray(lease.blocks[0].bytes)
            lease.copy_into(0, page)

The guide is docs/python.md; the protocol docs/protocol/channel.md. For asyncio: :mod:`orbitkv.aio`.
"""

from .client import Activity, Client, Piece, Publication, PublishResult, connect
from .errors import (
    Closed,
    ConfigError,
    Corrupt,
    DeadlineExceeded,
    Fault,
    Forked,
    LeaseEnded,
    ManagerLost,
    ManagerUnavailable,
    OrbitKVError,
    Refused,
    SaveNotSubmitted,
    SquattedSocket,
    StaleEpoch,
    WrongVersion,
)
from .lease import Block, Lease
from .memory import RegisteredMemory
from .restore import Claim, Observation, Plan, PlanBlock
from .wire import BlockName

__version__ = "0.1.0"

__all__ = [
    "Activity",
    "Block",
    "BlockName",
    "Claim",
    "Client",
    "Closed",
    "ConfigError",
    "Corrupt",
    "DeadlineExceeded",
    "Fault",
    "Forked",
    "Lease",
    "LeaseEnded",
    "ManagerLost",
    "ManagerUnavailable",
    "Observation",
    "OrbitKVError",
    "Piece",
    "Plan",
    "PlanBlock",
    "Publication",
    "PublishResult",
    "Refused",
    "RegisteredMemory",
    "SaveNotSubmitted",
    "SquattedSocket",
    "StaleEpoch",
    "WrongVersion",
    "connect",
]
