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
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.request import Request

FORMAT = 1
"""Raised whenever the bytes of a block or what is hashed change."""

_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
_PAGE = 4096
_STEP = 1 << 20
_HEADER_LIMIT = 100 << 20


class UnknownWeights(ValueError):
    """Nothing here tells these weights from others; the message says what would."""


def weights_of(folder: Path) -> dict[str, Any]:
    """What identifies the files of a model or an adapter: configurations whole; of weights, sizes and sampled pages.

    Every tensor is sampled, and every MiB of it: a revision that changes a whole tensor is another one for certain.
    Names and times do not count, since hosts keep the same model in different places.

    :raises UnknownWeights: there are no weights in it
    """
    found: dict[str, Any] = {}
    weights = 0
    for file in sorted(folder.iterdir()):
        if file.suffix == ".json" and file.name.endswith(("config.json", "index.json")):
            found[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
        elif file.suffix in _WEIGHTS:
            found[file.name] = _sampled(file)
            weights += 1
    if not weights:
        raise UnknownWeights(f"no weights are in {folder}")
    return found


def _sampled(file: Path) -> str:
    size = file.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with open(file, "rb") as f:
        begins = {0, max(0, size - _PAGE)}
        if file.suffix == ".safetensors":
            begins |= _tensors(f, size, digest)
        for at in sorted(begins | set(range(0, size, _STEP))):
            f.seek(at)
            digest.update(f.read(_PAGE))
    return digest.hexdigest()


def _tensors(file: Any, size: int, digest: Any) -> set[int]:
    """Where the tensors of a safetensors file begin; its header goes into the digest."""
    length = int.from_bytes(file.read(8), "little")
    if not 2 <= length <= min(_HEADER_LIMIT, size - 8):
        raise UnknownWeights(f"{file.name} is no safetensors file")
    text = file.read(length)
    digest.update(text)
    header = json.loads(text)
    return {8 + length + entry["data_offsets"][0] for name, entry in header.items() if name != "__metadata__"}


def namespace(vllm_config: "VllmConfig", kv_cache_config: "KVCacheConfig", model_id: str, rank: int) -> str:
    """The namespace of one worker's blocks, equal on every host with the same set-up.

    :raises UnknownWeights: the weights can not be identified, and no ``model_id`` was given
    """
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
    path = Path(model.model)
    commit = getattr(model.hf_config, "_commit_hash", None)
    try:
        if path.is_dir():
            return weights_of(path)
        if path.is_file():
            return _sampled(path)
        if commit:
            return [model.model, str(commit)]
        raise UnknownWeights(f"model {model.model} has no files here and names no commit")
    except UnknownWeights as e:
        raise UnknownWeights(f"OrbitKV: {e}; name the weights by the option orbitkv.model_id") from e


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


class Adapters:
    """What identifies the weights of LoRA adapters, looked at again when their files change."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, str | None]] = {}

    def of(self, path: str) -> str | None:
        """Of the adapter in a folder; None if its weights can not be seen, so that nothing may be kept of it."""
        folder = Path(path)
        if not path or not folder.is_dir():
            return None
        seen = sorted((f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in folder.iterdir())
        known = self._known.get(path)
        if known is None or known[0] != seen:
            try:
                identity: str | None = json.dumps(weights_of(folder), sort_keys=True)
            except (UnknownWeights, ValueError):
                identity = None
            known = self._known[path] = (seen, identity)
        return known[1]


def engine_instance(engine_id: str) -> str:
    """The instance id on the channel, at most 64 bytes, equal in every process of one engine."""
    plain = f"vllm-{engine_id}"
    if len(plain.encode()) <= 64:
        return plain
    return f"vllm-{hashlib.sha256(plain.encode()).hexdigest()[:48]}"
