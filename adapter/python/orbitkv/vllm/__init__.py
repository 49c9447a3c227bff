"""OrbitKV for vLLM: ``kv_connector="OrbitKVConnector", kv_connector_module_path="orbitkv.vllm"``."""

from .connector import OrbitKVConnector

__all__ = ["OrbitKVConnector"]
