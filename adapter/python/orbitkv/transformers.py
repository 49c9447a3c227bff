"""OrbitKV for Hugging Face transformers: the KV cache of a prompt's prefix, kept in the Manager and found again.

    with orbitkv.connect(socket) as client, orbitkv.transformers.PrefixStore(client, model) as store:
        cache, tokens = store.load(input_ids)
        output = model.generate(input_ids, past_key_values=cache, ...)
        store.save(input_ids, cache)

For one prompt at a time (batch size 1) and models whose layers all attend to everything (``DynamicLayer``).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from . import Client, OrbitKVError, Piece, RegisteredMemory

FORMAT = 1
_SAMPLES = 64


def model_identity(model: Any) -> str:
    """What identifies a model's weights: configuration, and of every tensor shape, type and sampled elements.

    Two revisions differ in nearly all elements, so in the samples; where the files lie does not count.
    """
    config = {
        k: v for k, v in model.config.to_dict().items() if k not in ("_name_or_path", "transformers_version")
    }
    digest = hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        flat = tensor.detach().reshape(-1)
        step = max(1, flat.numel() // _SAMPLES)
        digest.update(flat[::step].cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


class PrefixStore:
    """Saves and loads ``DynamicCache`` by prefix hash. Owns registered memory of ``staging_blocks`` blocks.

    Used by one thread at a time. A failure of the cache is a miss: :meth:`load` answers with less, :meth:`save` with
    fewer blocks. Ends by :meth:`close`.

    :param client: stays the caller's
    :param model: whose caches these are
    :param block_tokens: tokens of one block; a prefix is found in whole blocks
    :param salt: separates what must not be shared, such as tenants
    """

    def __init__(
        self, client: Client, model: Any, *, block_tokens: int = 32, salt: str = "", staging_blocks: int = 64
    ) -> None:
        if block_tokens < 1 or staging_blocks < 1:
            raise ValueError("block_tokens and staging_blocks must be at least 1")
        self._client = client
        self._config = model.config
        self._device = model.device
        self._dtype = model.dtype
        self._block_tokens = block_tokens
        self._staging_blocks = staging_blocks
        text = json.dumps([FORMAT, model_identity(model), str(model.dtype), block_tokens, salt])
        self._namespace = f"transformers/{hashlib.sha256(text.encode()).hexdigest()[:40]}"
        self._memory: RegisteredMemory | None = None

    def load(self, input_ids: torch.Tensor, *, fetch: bool = True, timeout: float = 1.0) -> tuple[DynamicCache, int]:
        """The cache of the longest prefix that is found, and its tokens.

        The last token is always left to be computed. Give the cache to ``generate`` as ``past_key_values``, found or
        empty.

        :param input_ids: ``[1, tokens]``
        :param fetch: whether the Manager fetches from its peers
        :param timeout: seconds to wait for that
        """
        hashes = self._hashes(input_ids)
        cache = DynamicCache(config=self._config)
        self._check(cache)
        whole = (input_ids.shape[1] - 1) // self._block_tokens
        if whole == 0:
            return cache, 0
        names = [(self._namespace, block_hash) for block_hash in hashes[:whole]]
        blocks: list[torch.Tensor] = []
        try:
            with self._client.query(names, fetch=fetch, stop_at_first_miss=True, timeout=timeout) as lease:
                for i, block in enumerate(lease.blocks):
                    if block.index != i:
                        break
                    page = torch.empty(block.bytes, dtype=torch.uint8)
                    lease.copy_into(i, page)
                    blocks.append(page)
        except OrbitKVError:
            pass  # what was copied before is good
        if blocks:
            self._fill(cache, blocks)
        return cache, len(blocks) * self._block_tokens

    def save(self, input_ids: torch.Tensor, cache: DynamicCache, *, timeout: float = 10.0) -> int:
        """Publishes the whole blocks of ``input_ids`` that the cache covers; those that are there cost a look-up.

        :param input_ids: ``[1, tokens]``: the prompt, or prompt and answer as ``generate`` returns them
        :param timeout: seconds to wait for the Manager
        :return: how many blocks are in the Manager now, from the first on
        """
        self._check(cache)
        hashes = self._hashes(input_ids)
        whole = min(input_ids.shape[1], cache.get_seq_length()) // self._block_tokens
        try:
            names = [(self._namespace, block_hash) for block_hash in hashes[:whole]]
            there = {block.index for block in self._client.candidates(names)} if names else set()
            missing = [i for i in range(whole) if i not in there]
            stored = set(there)
            for at in range(0, len(missing), self._staging_blocks):
                stored |= self._publish(cache, hashes, missing[at : at + self._staging_blocks], timeout)
        except OrbitKVError:
            return 0
        return next((i for i in range(whole) if i not in stored), whole)

    def close(self) -> None:
        """Gives the registered memory back."""
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()

    def __enter__(self) -> "PrefixStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _publish(self, cache: DynamicCache, hashes: list[bytes], indices: list[int], timeout: float) -> set[int]:
        pages = [self._page(cache, i) for i in indices]
        size = pages[0].numel()
        if self._memory is None:
            self._memory = self._client.register(self._staging_blocks * size)
        memory = self._memory
        pieces = []
        for slot, (i, page) in enumerate(zip(indices, pages)):
            memory.buffer[slot * size : (slot + 1) * size] = page.numpy().data.cast("B")
            pieces.append(Piece((self._namespace, hashes[i]), memory, slot * size, size))
        results = self._client.publish(pieces).wait(timeout)
        if results is None:
            # Pending, so the Manager may still read this memory: the next save gets another.
            self._memory = None
            return set()
        return {i for i, result in zip(indices, results) if result.status != "fault"}

    def _page(self, cache: DynamicCache, block: int) -> torch.Tensor:
        tokens = slice(block * self._block_tokens, (block + 1) * self._block_tokens)
        parts = [t[0, :, tokens, :] for layer in cache.layers for t in (layer.keys, layer.values)]
        return torch.cat([part.contiguous().cpu().view(torch.uint8).reshape(-1) for part in parts])

    def _fill(self, cache: DynamicCache, pages: list[torch.Tensor]) -> None:
        config = self._config.get_text_config(decoder=True)
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        shape = (len(cache.layers), 2, heads, self._block_tokens, dim)
        parts = [page.view(self._dtype).reshape(shape) for page in pages]
        whole = torch.cat(parts, dim=3).to(self._device)
        for i, layer in enumerate(whole):
            cache.update(layer[0].unsqueeze(0), layer[1].unsqueeze(0), i)

    def _hashes(self, input_ids: torch.Tensor) -> list[bytes]:
        if input_ids.dim() != 2 or input_ids.shape[0] != 1:
            raise ValueError(f"input_ids has the shape {tuple(input_ids.shape)}; give one prompt, [1, tokens]")
        tokens = input_ids[0].to("cpu", torch.int64).contiguous()
        parent = b""
        hashes = []
        for at in range(0, len(tokens) - self._block_tokens + 1, self._block_tokens):
            block = tokens[at : at + self._block_tokens].numpy().tobytes()
            parent = hashlib.sha256(parent + block).digest()
            hashes.append(parent)
        return hashes

    def _check(self, cache: DynamicCache) -> None:
        for layer in cache.layers:
            if type(layer) is not DynamicLayer:
                raise ValueError(
                    f"the cache has a layer of kind {type(layer).__name__}, and PrefixStore keeps DynamicLayer only; "
                    "generate without it"
                )
