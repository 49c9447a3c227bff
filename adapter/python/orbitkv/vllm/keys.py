"""Names of blocks. Two blocks have one name only if their bytes are interchangeable.

A name is a namespace and a hash. The namespace is of the engine: the model's weights, and everything that decides how
the bytes of a block are laid out. The hash is of the block: every token up to its end, and what else vLLM says its KV
depends on (LoRA adapter, multimodal inputs, cache salt, prompt embeddings).

The hash is not vLLM's own: that one starts from a random number unless PYTHONHASHSEED is set, and may be configured to
be a hash in which collisions can be made.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.request import Request

    from .placement import Placement

FORMAT = 1
"""Raised whenever the bytes of a block or what is hashed change."""

_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
_PAGE = 4096
_PAGES = 64


def weights_of(folder: Path) -> dict[str, Any]:
    """What identifies the files of a model or an adapter: configurations whole; of weights, sizes and sampled pages.

    Two revisions of one model differ in nearly all of their weights, so in the pages; names and times do not count,
    since hosts keep the same model in different places.
    """
    found: dict[str, Any] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix == ".json" and file.name.endswith(("config.json", "index.json")):
            found[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
        elif file.suffix in _WEIGHTS:
            found[file.name] = _sampled(file)
    return found


def _sampled(file: Path) -> str:
    size = file.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with open(file, "rb") as f:
        for i in range(_PAGES):
            f.seek(max(0, size - _PAGE) * i // (_PAGES - 1))
            digest.update(f.read(_PAGE))
    return digest.hexdigest()


def namespace(vllm_config: "VllmConfig", kv_cache_config: "KVCacheConfig", model_id: str, rank: int) -> str:
    """The namespace of one worker's blocks. Equal in scheduler and worker, and on every host with the same set-up."""
    model = vllm_config.model_config
    parallel = vllm_config.parallel_config
    spec = kv_cache_config.kv_cache_groups[0].kv_cache_spec
    what = {
        "format": FORMAT,
        "weights": model_id or _weights(vllm_config),
        "architecture": _plain(model.hf_config.to_dict()),
        "dtype": str(model.dtype),
        "quantization": str(model.quantization),
        "kv_dtype": str(vllm_config.cache_config.cache_dtype),
        "layout": str(kv_cache_config.kv_cache_layout),
        "block_tokens": spec.block_size,
        "spec": repr(spec),
        "layers": kv_cache_config.kv_cache_groups[0].layer_names,
        "placement": [
            (t.layers, t.layer_stride >= t.block_stride * kv_cache_config.num_blocks, t.block_stride)
            for t in kv_cache_config.kv_cache_tensors
        ],
        # Positions are scaled by it in some models.
        "max_model_len": model.max_model_len if _scales_by_length(model.hf_config) else 0,
        "tensor_parallel": parallel.tensor_parallel_size,
        "pipeline_parallel": parallel.pipeline_parallel_size,
        "rank": rank,
    }
    text = json.dumps(what, sort_keys=True, default=str)
    return f"vllm/{hashlib.sha256(text.encode()).hexdigest()[:40]}"


def _weights(vllm_config: "VllmConfig") -> Any:
    model = vllm_config.model_config
    load = vllm_config.load_config
    if str(load.load_format) == "dummy":
        return ["dummy", model.seed]
    folder = Path(model.model)
    if folder.is_dir():
        return weights_of(folder)
    commit = getattr(model.hf_config, "_commit_hash", None)
    return [model.model, str(model.revision), str(commit)]


def _scales_by_length(config: Any) -> bool:
    text = json.dumps(_plain(config.to_dict()), default=str)
    return any(word in text for word in ('"dynamic"', '"longrope"', '"su"'))


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """The configuration without what says where it came from."""
    return {k: v for k, v in config.items() if k not in ("_name_or_path", "transformers_version", "_commit_hash")}


class BlockHashes:
    """The hashes of one request's full blocks, computed as its tokens come."""

    __slots__ = ("hashes", "_parent", "_mm", "_extra", "_lora")

    def __init__(self, request: "Request", extra_keys: Callable[..., Any], lora: str) -> None:
        self.hashes: list[bytes] = []
        self._parent = b""
        self._mm = 0
        self._lora = lora
        plain = not (
            request.mm_features or request.lora_request or request.cache_salt or request.prompt_embeds is not None
        )
        self._extra = None if plain else extra_keys

    def update(self, request: "Request", block_tokens: int) -> list[bytes]:
        """All hashes so far, of confirmed tokens only."""
        tokens = request._all_token_ids
        while (len(self.hashes) + 1) * block_tokens <= len(tokens):
            start = len(self.hashes) * block_tokens
            end = start + block_tokens
            extra = b""
            if self._extra is not None:
                keys, self._mm = self._extra(request, start, end, self._mm)
                extra = repr((self._lora, keys)).encode()
            digest = hashlib.sha256(self._parent)
            digest.update(len(extra).to_bytes(8, "little"))
            digest.update(extra)
            digest.update(array("q", tokens[start:end]).tobytes())
            self._parent = digest.digest()
            self.hashes.append(self._parent)
        return self.hashes


def lora_identity(path: str) -> str:
    """What identifies an adapter's weights. Of one that is no folder here, its path."""
    folder = Path(path)
    if not path or not folder.is_dir():
        return path
    return json.dumps(weights_of(folder), sort_keys=True)


def engine_instance(engine_id: str) -> str:
    """The instance id on the channel, at most 64 bytes, equal in every process of one engine."""
    plain = f"vllm-{engine_id}"
    if len(plain.encode()) <= 64:
        return plain
    return f"vllm-{hashlib.sha256(plain.encode()).hexdigest()[:48]}"
