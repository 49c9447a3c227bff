"""OrbitKV for vLLM: ``kv_connector="OrbitKVConnector", kv_connector_module_path="orbitkv.vllm"``."""

from __future__ import annotations

from typing import Any

__all__ = ["OrbitKVConnector"]


def __getattr__(name: str) -> Any:
    """Imports vLLM only for who wants the connector: names and options need none."""
    if name == "OrbitKVConnector":
        from .connector import OrbitKVConnector

        return OrbitKVConnector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
