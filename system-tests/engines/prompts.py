"""Prompts that share prefixes, from a seed."""

from __future__ import annotations

import random

BLOCK = 32
Tokens = list[int]


def shared_prefixes(seed: int, count: int = 200, shortest: int = 64, longest: int = 1500, documents: int = 12) -> list[Tokens]:
    """``count`` prompts of random lengths; most begin like another one."""
    r = random.Random(seed)
    texts = [[r.randrange(3, 1024) for _ in range(longest)] for _ in range(documents)]
    prompts = []
    for _ in range(count):
        length = r.randint(shortest, longest)
        shared = r.randint(0, length)
        prompts.append(r.choice(texts)[:shared] + [r.randrange(3, 1024) for _ in range(length - shared)])
    return prompts


def restorable(prompt: Tokens) -> int:
    """Tokens that need not be computed: whole blocks, less what vLLM always computes."""
    return (len(prompt) - 1) // BLOCK * BLOCK


def unique_blocks(prompts: list[Tokens]) -> int:
    """Different whole blocks of all of them."""
    return len({tuple(p[: i * BLOCK]) for p in prompts for i in range(1, len(p) // BLOCK + 1)})
