"""What the scheduler's side and the workers' side of the connector tell each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorHandshakeMetadata,
    KVConnectorMetadata,
    KVConnectorWorkerMetadata,
)


@dataclass
class WorkerHandshake(KVConnectorHandshakeMetadata):
    """Once, from a worker: where its blocks are kept and how they are named."""

    rank: int
    socket: str
    namespace: str
    epoch: str
    """Of the Manager it is attached to; empty without one."""


@dataclass
class Load:
    """A promise to be redeemed into an engine's blocks. One plan a rank."""

    request_id: str
    plans: dict[int, tuple[str, int, int, int]]
    """By rank: Manager epoch, record, generation, and the plan's first block that is wanted."""
    block_ids: list[int]
    """The engine's blocks, in order."""


@dataclass
class Save:
    """Blocks that are complete once the step they come with has run."""

    hashes: list[bytes]
    block_ids: list[int]


@dataclass
class StepMetadata(KVConnectorMetadata):
    """With a step, from the scheduler to every worker."""

    loads: list[Load] = field(default_factory=list)
    saves: list[Save] = field(default_factory=list)
    idle: bool = True
    """Nothing is computed in this step."""
    epochs: frozenset[str] = frozenset()
    """Managers of which the scheduler holds promises."""


@dataclass
class StepReport(KVConnectorWorkerMetadata):
    """With a step's output, from the workers to the scheduler."""

    epochs: dict[int, str] = field(default_factory=dict)
    """By rank: the Manager it is attached to; empty without one."""
    dropped: list[bytes] = field(default_factory=list)
    """Hashes that some worker did not save."""

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "StepReport":
        assert isinstance(other, StepReport)
        return StepReport({**self.epochs, **other.epochs}, self.dropped + other.dropped)
