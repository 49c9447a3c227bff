"""The connector's figures, in vLLM's own log lines and Prometheus metrics."""

from __future__ import annotations

from typing import Any

from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorPromMetrics, KVConnectorStats

COUNTERS = {
    "lookups": "Prefixes looked up in the local Manager",
    "lookup_seconds": "Time until those were answered, while their requests waited",
    "lookup_timeouts": "Lookups that were not answered in time and counted as misses",
    "local_lookups": "Prefixes looked up in the local Manager's own memory only, before their turn",
    "skipped_lookups": "Requests computed without a lookup at peers, behind others that were not answered in time",
    "hit_blocks": "KV blocks that lookups promised beyond the engine's own prefix cache",
    "missed_blocks": "KV blocks that were looked up and not there",
    "loaded_blocks": "KV blocks copied from the Manager into the engine",
    "loaded_bytes": "Bytes of those",
    "load_seconds": "Time that those copies took",
    "failed_loads": "Requests whose load failed and whose blocks were named for computing again",
    "saved_blocks": "KV blocks handed to the Manager and stored, or present there already",
    "saved_bytes": "Bytes of those",
    "dropped_blocks": "KV blocks not saved, for want of staging room or of a Manager",
    "manager_losses": "Times that the connection to the Manager was lost",
}


class OrbitKVStats(KVConnectorStats):
    """Sums since the last time they were taken; ``data`` maps names of :data:`COUNTERS` to numbers."""

    def add(self, name: str, value: float = 1) -> None:
        """Adds to one counter."""
        if value:
            self.data[name] = self.data.get(name, 0) + value

    def take(self) -> "OrbitKVStats | None":
        """What came since the last call; None if nothing did."""
        if not self.data:
            return None
        taken = OrbitKVStats(data=self.data)
        self.data = {}
        return taken

    def reset(self) -> None:
        self.data = {}

    def aggregate(self, other: KVConnectorStats) -> KVConnectorStats:
        for name, value in other.data.items():
            self.add(name, value)
        return self

    def reduce(self) -> dict[str, int | float]:
        return {name: round(value, 3) for name, value in self.data.items()}

    def is_empty(self) -> bool:
        return not self.data


class OrbitKVPromMetrics(KVConnectorPromMetrics):
    """Counters ``vllm:orbitkv_*``, one set an engine."""

    def __init__(
        self,
        vllm_config: Any,
        metric_types: Any,
        labelnames: list[str],
        per_engine_labelvalues: dict[int, list[object]],
    ) -> None:
        super().__init__(vllm_config, metric_types, labelnames, per_engine_labelvalues)
        self._counters: dict[str, dict[int, Any]] = {}
        for name, text in COUNTERS.items():
            counter = self._counter_cls(
                name=f"vllm:orbitkv_{name}", documentation=f"{text}.", labelnames=labelnames
            )
            self._counters[name] = {
                engine: counter.labels(*values) for engine, values in per_engine_labelvalues.items()
            }

    def observe(self, transfer_stats_data: dict[str, Any], engine_idx: int = 0) -> None:
        for name, value in transfer_stats_data.items():
            self._counters[name][engine_idx].inc(value)
