"""The class that vLLM loads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory
from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorMetadata,
    KVConnectorRole,
    KVConnectorWorkerMetadata,
)
from vllm.v1.core.kv_cache_utils import generate_block_hash_extra_keys
from vllm.v1.metrics.cache_hit_source import CacheHitSource

from .metadata import StepMetadata, StepReport
from .options import Options
from .scheduler import Scheduler
from .stats import OrbitKVPromMetrics, OrbitKVStats
from .worker import Worker

if TYPE_CHECKING:
    import torch

    from vllm.config import VllmConfig
    from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorPromMetrics, KVConnectorStats
    from vllm.forward_context import ForwardContext
    from vllm.v1.attention.backend import AttentionMetadata
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.outputs import KVConnectorOutput
    from vllm.v1.request import Request


NAME = "OrbitKVConnector"


class OrbitKVConnector(KVConnectorBase_V1):
    """Keeps an engine's KV cache in the OrbitKV Manager of its host, and finds there what any engine has computed.

    Made by vLLM, once for the scheduler and once for each worker, each with a session of its own. The options are
    those of :class:`orbitkv.vllm.options.Options`; the guide is docs/vllm.md.
    """

    _cache_hit_source = CacheHitSource.P2P

    def __init__(
        self, vllm_config: "VllmConfig", role: KVConnectorRole, kv_cache_config: "KVCacheConfig"
    ) -> None:
        super().__init__(vllm_config, role, kv_cache_config)
        options = Options.of(self._kv_transfer_config.kv_connector_extra_config or {})
        _check(vllm_config)
        self._scheduler: Scheduler | None = None
        self._worker: Worker | None = None
        if role == KVConnectorRole.SCHEDULER:
            self._scheduler = Scheduler(options, vllm_config, kv_cache_config, generate_block_hash_extra_keys)
        else:
            self._worker = Worker(options, vllm_config, kv_cache_config)

    @property
    def requires_kv_delivery(self) -> bool:
        """A save that is dropped is a miss later, nothing more."""
        return False

    # ---- the worker's side

    def register_kv_caches(self, kv_caches: "dict[str, torch.Tensor]") -> None:
        assert self._worker is not None
        self._worker.register(kv_caches)

    def start_load_kv(self, forward_context: "ForwardContext", **kwargs: Any) -> None:
        if self._worker is not None:
            self._worker.start_loads(self._step())

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Nothing: no request is computed before its load has ended."""

    def save_kv_layer(
        self, layer_name: str, kv_layer: "torch.Tensor", attn_metadata: "AttentionMetadata", **kwargs: Any
    ) -> None:
        """Nothing: whole blocks are saved, behind the last layer."""

    def wait_for_save(self) -> None:
        if self._worker is not None:
            self._worker.save(self._step())

    def handle_preemptions(self, kv_connector_metadata: KVConnectorMetadata) -> None:
        """Nothing: the blocks of a step are copied out before it returns, so none is read when they are freed."""

    def get_finished(self, finished_req_ids: set[str]) -> tuple[set[str] | None, set[str] | None]:
        return None, self._worker.finished_loads() if self._worker else None

    def get_block_ids_with_load_errors(self) -> set[int]:
        return self._worker.failed_blocks() if self._worker else set()

    def build_connector_worker_meta(self) -> KVConnectorWorkerMetadata | None:
        return self._worker.report() if self._worker else None

    def _step(self) -> StepMetadata:
        metadata = self._get_connector_metadata()
        assert isinstance(metadata, StepMetadata)
        return metadata

    # ---- the scheduler's side

    def set_xfer_handshake_metadata_pp_aware(self, metadata: dict[tuple[int, int], Any]) -> None:
        """Nothing: under MultiConnector it is another connector's."""

    def on_new_request(self, request: "Request") -> None:
        assert self._scheduler is not None
        self._scheduler.track(request)

    def get_num_new_matched_tokens(
        self, request: "Request", num_computed_tokens: int
    ) -> tuple[int | None, bool]:
        assert self._scheduler is not None
        return self._scheduler.matched(request, num_computed_tokens)

    def update_state_after_alloc(
        self, request: "Request", blocks: "KVCacheBlocks", num_external_tokens: int
    ) -> None:
        assert self._scheduler is not None
        self._scheduler.allocated(request, blocks, num_external_tokens)

    def build_connector_meta(self, scheduler_output: "SchedulerOutput") -> KVConnectorMetadata:
        assert self._scheduler is not None
        return self._scheduler.step(scheduler_output)

    def update_connector_output(self, connector_output: "KVConnectorOutput") -> None:
        report = connector_output.kv_connector_worker_meta
        if self._scheduler is not None and isinstance(report, StepReport):
            self._scheduler.reported(report)

    def request_finished(self, request: "Request", block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:
        """Never keeps the blocks: what was to be saved of them was copied in the step that completed it."""
        assert self._scheduler is not None
        self._scheduler.finished(request)
        return False, None

    # ---- both

    def shutdown(self) -> None:
        for side in (self._scheduler, self._worker):
            if side is not None:
                side.close()
        self._scheduler = self._worker = None

    def get_kv_connector_stats(self) -> "KVConnectorStats | None":
        if self._scheduler is not None:
            return self._scheduler.stats.take()
        return self._worker.stats() if self._worker else None

    @classmethod
    def build_kv_connector_stats(cls, data: dict[str, Any] | None = None) -> "KVConnectorStats | None":
        return OrbitKVStats(data=data or {})

    @classmethod
    def build_prom_metrics(
        cls,
        vllm_config: "VllmConfig",
        metric_types: Any,
        labelnames: list[str],
        per_engine_labelvalues: dict[int, list[object]],
    ) -> "KVConnectorPromMetrics | None":
        return OrbitKVPromMetrics(vllm_config, metric_types, labelnames, per_engine_labelvalues)


def _check(vllm_config: "VllmConfig") -> None:
    """Refuses set-ups in which a block's bytes depend on more than its name says."""
    parallel = vllm_config.parallel_config
    speculative = vllm_config.speculative_config
    refused = ""
    if parallel.decode_context_parallel_size > 1 or parallel.prefill_context_parallel_size > 1:
        refused = "context parallelism"
    elif speculative is not None and speculative.method not in ("ngram", "suffix"):
        refused = f"speculative decoding by {speculative.method}, whose own cache is part of a block,"
    elif getattr(vllm_config.cache_config, "calculate_kv_scales", False):
        refused = "KV scales that are calculated at run time"
    if refused:
        raise ValueError(f"OrbitKVConnector does not support {refused} yet; switch it off, or run without connector")


def _register() -> None:
    """Makes it known by name: so MultiConnector finds who puts figures of other processes together."""
    try:
        KVConnectorFactory.register_connector(NAME, "orbitkv.vllm", NAME)
    except ValueError:
        pass  # it is


_register()
