"""Cases of models that are spread over ranks, or whose KV cache is not of one plain kind."""

from __future__ import annotations

from typing import Any

from hosts import Engine
from prompts import restorable, unique_blocks
from rig import OBSERVER, PATIENT, Failed, Rig, await_state, check, same_bytes

GEMMA = {
    "architectures": ["Gemma3ForCausalLM"],
    "model_type": "gemma3_text",
    "sliding_window": 256,
    "layer_types": ["sliding_attention", "full_attention"] * 2,
    "query_pre_attn_scalar": 32,
    "hidden_activation": "gelu_pytorch_tanh",
    "rope_local_base_freq": 10000.0,
}
"""Layers of two kinds of attention."""
MISTRAL = {"architectures": ["MistralForCausalLM"], "model_type": "mistral", "sliding_window": 256}
"""Sliding windows only."""
MAMBA = {
    "architectures": ["Mamba2ForCausalLM"],
    "model_type": "mamba2",
    "num_heads": 16,
    "head_dim": 32,
    "state_size": 16,
    "n_groups": 1,
    "expand": 2,
    "conv_kernel": 4,
    "num_hidden_layers": 2,
    "layer_norm_epsilon": 1e-5,
    "residual_in_fp32": True,
    "rms_norm": True,
    "chunk_size": 64,
}
"""A state, and no KV cache."""


def tensor_parallel(rig: Rig) -> str:
    """Two ranks, each with a Manager of its own, on two hosts; then one rank's Manager is killed."""
    place = rig.place()
    managers = [[rig.manager(place, f"manager-{host}-{rank}") for rank in range(2)] for host in (1, 2)]

    def engine(host: int) -> Engine:
        sockets = {"orbitkv.tp_shard_bootstrap_sockets": [str(manager.socket) for manager in managers[host - 1]]}
        connector = {**sockets, **PATIENT}
        started = Engine(place, f"engine-{host}", connector, llm={"tensor_parallel_size": 2}, audit=True)
        rig.keep(started)
        return started

    prompts = rig.prompts[:8]
    first = engine(1)
    # What two ranks add up may differ from one rank's sum: engine 1, which computes all, is the reference.
    expected = [first.ask([prompt])[0]["tokens"] for prompt in prompts]
    for manager in managers[0]:
        await_state(manager, "all blocks", lambda s: s["catalog"]["blocks"] >= unique_blocks(prompts))
    # The polling threads of two such engines leave a Manager no processor for a minute where there are only two.
    first.end()
    second = engine(2)
    answers = [second.ask([prompt])[0] for prompt in prompts]
    found = [answer["cached"] for answer in answers]
    wanted = [restorable(p) for p in prompts]
    check(found == wanted, f"{found} tokens were found of {wanted}")
    check([answer["tokens"] for answer in answers] == expected, "engine 2 answers otherwise than engine 1")
    loaded = same_bytes(place)
    whole = unique_blocks([prompt[: restorable(prompt)] for prompt in prompts])
    check(loaded >= 2 * whole, f"{loaded} blocks restored by two ranks, of {whole} each")
    second.reset()
    managers[1][0].kill()
    # A prefix of which one rank has lost its share is of no use to the others.
    alone = [second.ask([prompt])[0] for prompt in prompts[:4]]
    check([answer["tokens"] for answer in alone] == expected[:4], "wrong tokens without one rank's Manager")
    check(alone[0]["cached"] == 0, f"{alone[0]['cached']} tokens were found without one rank's Manager")
    return f"{len(prompts)} prompts, {loaded} blocks restored by two ranks, all bytes equal; right without one's Manager"


def hybrid_attention(rig: Rig) -> str:
    """A model with full and sliding attention: vLLM keeps all of its cache, and so does the Manager."""
    place = rig.place()
    prompts = rig.prompts[:16]
    plain = Engine(place, "plain", None, model=GEMMA)
    rig.keep(plain)
    expected = [plain.ask([prompt])[0]["tokens"] for prompt in prompts]
    one, _, first, second = rig.pair(place, audit=True, model=GEMMA, connector=PATIENT)
    wrong = [i for i, p in enumerate(prompts) if first.ask([p])[0]["tokens"] != expected[i]]
    await_state(one, "all blocks", lambda s: s["catalog"]["blocks"] >= unique_blocks(prompts))
    answers = [second.ask([prompt])[0] for prompt in prompts]
    found = [answer["cached"] for answer in answers]
    wanted = [restorable(p) for p in prompts]
    check(found == wanted, f"{found} tokens were found of {wanted}")
    wrong += [i for i, answer in enumerate(answers) if answer["tokens"] != expected[i]]
    check(not wrong, f"prompts {wrong} have other tokens than without OrbitKV")
    check(len({tuple(tokens) for tokens in expected}) > 1, "all prompts have one answer, which shows nothing")
    return f"{len(prompts)} prompts, {same_bytes(place)} blocks restored, all bytes equal"


def refused_models(rig: Rig) -> str:
    """Sliding windows only, or a state: the engine does not start, and its log says why and what to do."""
    place = rig.place()
    manager = rig.manager(place, "manager")
    kinds: dict[str, tuple[dict[str, Any], str]] = {
        "sliding": (MISTRAL, "SlidingWindowSpec"),
        "state": (MAMBA, "MambaSpec"),
    }
    for name, (model, spec) in kinds.items():
        try:
            rig.engine(place, name, manager, model=model)
        except RuntimeError:
            log = (place / f"{name}.log").read_text()
            check(f"of kind {spec}" in log and "run it without the connector" in log, f"{name}: its log does not say why")
            continue
        raise Failed(f"{name}: the engine started")
    await_state(manager, "no session", lambda s: s["sessions"]["open"] <= OBSERVER)
    return f"refused: {', '.join(kinds)}"
