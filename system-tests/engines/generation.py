"""transformers with OrbitKV: ``generation.py SOCKET SOCKET``. Saves on the first Manager, restores on the second."""

from __future__ import annotations

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import orbitkv
from orbitkv.transformers import PrefixStore


def main() -> None:
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=128, intermediate_size=256, num_hidden_layers=3, num_attention_heads=8, num_key_value_heads=4,
        vocab_size=512, bos_token_id=1, eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval()
    torch.manual_seed(1)
    checked = 0
    for length in (33, 64, 65, 300):
        prompt = torch.randint(3, 512, (1, length))
        with torch.no_grad():
            plain = model.generate(prompt, max_new_tokens=24, do_sample=False)
            with orbitkv.connect(sys.argv[1]) as client, PrefixStore(client, model) as store:
                cache, found = store.load(prompt)
                assert found == 0, f"{found} tokens were found before any was saved"
                first = model.generate(prompt, past_key_values=cache, max_new_tokens=24, do_sample=False)
                saved = store.save(first, cache)
            with orbitkv.connect(sys.argv[2]) as client, PrefixStore(client, model) as store:
                cache, found = store.load(prompt, timeout=10)
                again = model.generate(prompt, past_key_values=cache, max_new_tokens=24, do_sample=False)
            with orbitkv.connect(sys.argv[2]) as client, PrefixStore(client, model, salt="other") as store:
                assert store.load(prompt)[1] == 0, "a hit under another salt"
        assert found == (length - 1) // 32 * 32, f"{found} tokens of {length} were found"
        assert torch.equal(plain, first) and torch.equal(plain, again), f"another generation at length {length}"
        checked += saved
    print(f"4 prompts generated alike from another Manager's memory, {checked} blocks saved")


if __name__ == "__main__":
    main()
