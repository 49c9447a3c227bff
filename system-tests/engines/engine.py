"""One real vLLM engine in a process of its own: a JSON object a line in, one a line out.

Run by cases.py: ``engine.py SETTINGS``. Its answers go to the descriptor that stdout was; stdout itself is the log's.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from typing import Any

MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 32,
    "vocab_size": 1024,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "torch_dtype": "float32",
    "tie_word_embeddings": False,
}


def start(settings: dict[str, Any]) -> Any:
    from vllm import LLM

    folder = pathlib.Path(settings["folder"])
    model = folder / "model"
    model.mkdir(parents=True, exist_ok=True)
    # Whole at once: engines with one folder start together.
    own = model / f"config-{os.getpid()}.tmp"
    own.write_text(json.dumps({**MODEL, **settings.get("model", {})}))
    own.replace(model / "config.json")
    options: dict[str, Any] = dict(settings.get("llm", {}))
    if settings.get("transfer") is not None:
        options["kv_transfer_config"] = settings["transfer"]
    elif settings.get("connector") is not None:
        options["kv_transfer_config"] = {
            "kv_connector": settings.get("class", "OrbitKVConnector"),
            "kv_connector_module_path": settings.get("module", "orbitkv.vllm"),
            "kv_role": "kv_both",
            "kv_connector_extra_config": settings["connector"],
        }
    defaults = dict(
        model=str(model),
        skip_tokenizer_init=True,
        load_format="dummy",
        dtype="float32",
        max_model_len=2048,
        enforce_eager=True,
        seed=0,
        block_size=32,
        max_num_seqs=8,
    )
    return LLM(**{**defaults, **options})


def generate(llm: Any, order: dict[str, Any]) -> list[dict[str, Any]]:
    from vllm import SamplingParams

    extra = {"kv_transfer_params": order["transfer"]} if order.get("transfer") else None
    sampling = SamplingParams(
        temperature=0, max_tokens=order.get("max_tokens", 8), detokenize=False, ignore_eos=True, extra_args=extra
    )
    prompts = []
    for tokens in order["prompts"]:
        prompt: dict[str, Any] = {"prompt_token_ids": tokens}
        if order.get("salt"):
            prompt["cache_salt"] = order["salt"]
        prompts.append(prompt)
    outputs = llm.generate(prompts, sampling, use_tqdm=False)
    return [
        {"tokens": list(o.outputs[0].token_ids), "cached": o.num_cached_tokens or 0, "transfer": o.kv_transfer_params}
        for o in outputs
    ]


def main() -> None:
    settings = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    began = time.monotonic()
    try:
        llm = start(settings)
    except Exception as e:
        print(json.dumps({"fault": f"{type(e).__name__}: {e}"}), file=answers, flush=True)
        raise
    print(json.dumps({"ready": time.monotonic() - began}), file=answers, flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        began = time.monotonic()
        if order.get("reset"):
            llm.reset_prefix_cache()
            answer: dict[str, Any] = {"reset": True}
        else:
            answer = {"results": generate(llm, order)}
        answer["seconds"] = time.monotonic() - began
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
