"""Where the bytes of a KV block are in a worker's memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from vllm.v1.kv_cache_interface import KVCacheConfig


class UnsupportedLayout(ValueError):
    """The engine's KV cache is of a kind that can not be kept here yet; the message says which, and what to do."""


@dataclass(frozen=True)
class Run:
    """One piece of every block: block ``b`` has ``bytes`` bytes at ``address + b * stride``."""

    address: int
    stride: int
    bytes: int


@dataclass(frozen=True)
class Placement:
    """The runs of a block, in the order in which they make up its bytes. Valid as long as the tensors live."""

    runs: tuple[Run, ...]
    blocks: int
    tensors: tuple["torch.Tensor", ...]
    """Kept, so that the addresses stay good."""

    @property
    def block_bytes(self) -> int:
        """Bytes of one block, all layers."""
        return sum(run.bytes for run in self.runs)

    def segments(self, block: int) -> list[tuple[int, int]]:
        """(address, bytes) of a block's pieces."""
        if not 0 <= block < self.blocks:
            raise IndexError(f"block {block} of {self.blocks}")
        return [(run.address + block * run.stride, run.bytes) for run in self.runs]


def check_groups(kv_cache_config: "KVCacheConfig") -> None:
    """Refuses models whose cache is more than one kind of block."""
    groups = kv_cache_config.kv_cache_groups
    if len(groups) != 1:
        kinds = ", ".join(sorted({type(g.kv_cache_spec).__name__ for g in groups}))
        raise UnsupportedLayout(
            f"the model has {len(groups)} KV-cache groups ({kinds}), and OrbitKVConnector keeps models with one; "
            "give --disable-hybrid-kv-cache-manager if its layers are attention of two kinds, else run it without the "
            "connector"
        )
    spec = groups[0].kv_cache_spec
    kind = type(spec).__name__
    if kind not in ("FullAttentionSpec", "MLAAttentionSpec"):
        raise UnsupportedLayout(
            f"the model's KV cache is of kind {kind}, and OrbitKVConnector keeps full attention only; "
            "run it without the connector"
        )


def place(kv_caches: "dict[str, torch.Tensor]", kv_cache_config: "KVCacheConfig") -> Placement:
    """Reads the placement from the cache that the engine allocated.

    Follows ``KVCacheTensor`` of vLLM 0.32: layer ``l``'s page of block ``b`` starts at
    ``offset + l * layer_stride + b * block_stride`` of its storage. With the layers outermost each layer is a region of
    blocks; with the blocks outermost a block is one piece.
    """
    blocks = kv_cache_config.num_blocks
    runs: list[Run] = []
    tensors: list["torch.Tensor"] = []
    for placed in kv_cache_config.kv_cache_tensors:
        names = [name for name in placed.layers if name in kv_caches]
        if not names:
            continue
        cache = kv_caches[names[0]]
        if not hasattr(cache, "untyped_storage"):
            raise UnsupportedLayout(f"layer {names[0]} has a state of several tensors; run without the connector")
        if cache.device.type != "cpu":
            raise UnsupportedLayout(
                f"the KV cache lies on device {cache.device.type}, and OrbitKVConnector copies from and to host memory "
                "only so far; run it without the connector"
            )
        storage = cache.untyped_storage()
        span = blocks * placed.block_stride
        outermost = placed.layer_stride >= span
        # A packed block begins before the page of any one layer in it.
        start = placed.offset if outermost else 0
        regions = len(placed.layers) * (placed.layer_stride // span) if outermost else 1
        if start + regions * span > storage.nbytes():
            raise UnsupportedLayout(
                f"layer {names[0]}: its storage of {storage.nbytes()} bytes is smaller than the {regions * span} bytes "
                f"placed at {start}; this vLLM lays its cache out in a way that is not known"
            )
        for region in range(regions):
            address = storage.data_ptr() + start + region * span
            if all(address != run.address for run in runs):
                runs.append(Run(address, placed.block_stride, placed.block_stride))
        tensors.append(cache)
    if not runs:
        raise UnsupportedLayout("the engine registered no KV cache")
    return Placement(tuple(runs), blocks, tuple(tensors))
