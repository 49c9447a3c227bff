"""What the scheduler's side and the workers' side of the connector tell each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorMetadata, KVConnectorWorkerMetadata


@dataclass(frozen=True)
class WorkerState:
    """How a worker names its blocks, and where they are kept now."""

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
    """With a step's output, from the workers to the scheduler.

    Not vLLM's handshake metadata: of that MultiConnector passes on what its first connector says, to all of them.
    """

    workers: dict[int, WorkerState] = field(default_factory=dict)
    """By rank."""
    dropped: list[bytes] = field(default_factory=list)
    """Hashes that some worker did not save."""

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "StepReport":
        assert isinstance(other, StepReport)
        return StepReport({**self.workers, **other.workers}, self.dropped + other.dropped)
