"""The cases of verify-engines: real vLLM engines, each with its own Manager, orbitte-tcp between them."""

from __future__ import annotations

import pathlib
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from environment import HERE, PYTHON, ROOT
from hosts import Engine, Manager
from models import hybrid_attention, refused_models, tensor_parallel
from prompts import Tokens, restorable, shared_prefixes, unique_blocks
from rig import OBSERVER, PATIENT, POOL, Failed, Rig, await_state, check, explained, same_bytes

def equal_answers(rig: Rig) -> str:
    """All prompts through engine 1, then through engine 2: same tokens, same bytes, everything found."""
    place = rig.place()
    one, _, first, second = rig.pair(place, audit=True, connector=PATIENT)
    wrong = rig.wrong(first.ask(rig.prompts))
    await_state(one, "all blocks", lambda s: s["catalog"]["blocks"] >= unique_blocks(rig.prompts))
    answers = second.ask(rig.prompts)
    wrong += rig.wrong(answers)
    short = [i for i, a in enumerate(answers) if a["cached"] != restorable(rig.prompts[i])]
    check(not short, f"{len(short)} prompts found less than all whole blocks, as {short[:3]}: "
          f"{[answers[i]['cached'] for i in short[:3]]} of {[restorable(rig.prompts[i]) for i in short[:3]]} tokens")
    loaded = same_bytes(place)
    explained(rig, wrong, place)
    return f"{len(rig.prompts)} prompts, {len(wrong)} differ by batch shape, {loaded} blocks restored, all bytes equal"


def preempted(rig: Rig) -> str:
    """The same with a cache so small that requests are preempted."""
    place = rig.place()
    options = {"num_gpu_blocks_override": 110}
    one, _, first, second = rig.pair(place, audit=True, llm=options, connector=PATIENT)
    wrong = rig.wrong(first.ask(rig.prompts))
    wrong += rig.wrong(second.ask(rig.prompts))
    loaded = same_bytes(place)
    explained(rig, wrong, place)
    return f"{len(rig.prompts)} prompts twice, {len(wrong)} differ by batch shape, {loaded} blocks restored, all bytes equal"


def shuffled(rig: Rig) -> str:
    """In shuffled order, on both engines at once, with the connector as it is installed."""
    place = rig.place()
    _, _, first, second = rig.pair(place, audit=True)
    r = random.Random(rig.seed)
    orders = []
    for engine in (first, second):
        order = list(range(len(rig.prompts)))
        r.shuffle(order)
        orders.append(order)
        engine.send([rig.prompts[i] for i in order])
    wrong = [i for engine, order in zip((first, second), orders) for i in rig.wrong(engine.receive(), order)]
    loaded = same_bytes(place)
    # By each from the other, unless all were asked for before any was saved.
    wanted = unique_blocks(rig.prompts) // 10 if len(rig.prompts) >= 100 else 0
    check(loaded >= wanted, f"{loaded} blocks restored of {unique_blocks(rig.prompts)}, at least {wanted} are expected")
    explained(rig, wrong, place)
    return f"2 x {len(rig.prompts)} prompts, {len(wrong)} differ by batch shape, {loaded} blocks restored, all bytes equal"


def _in_rounds(engine: Engine, rig: Rig, done: threading.Event, answers: list[Any]) -> None:
    """Asks for all prompts, again and again, until told to stop."""
    while not done.is_set():
        engine.reset()
        answers.append(engine.ask(rig.prompts))


def managers_killed(rig: Rig) -> str:
    """Manager 1, then Manager 2 killed in the middle, each started again 5 s later."""
    return _managers_hurt(rig, signal.SIGKILL, 5)


def managers_frozen(rig: Rig) -> str:
    """The same, frozen for 20 s."""
    return _managers_hurt(rig, signal.SIGSTOP, 20)


def _managers_hurt(rig: Rig, number: signal.Signals, seconds: float) -> str:
    place = rig.place()
    one, two, first, second = rig.pair(place, audit=True)
    done = threading.Event()
    rounds: dict[str, list[Any]] = {"engine-1": [], "engine-2": []}
    threads = [
        threading.Thread(target=_in_rounds, args=(engine, rig, done, rounds[engine.name])) for engine in (first, second)
    ]
    for thread in threads:
        thread.start()
    try:
        for manager in (one, two):
            time.sleep(3)
            if number == signal.SIGKILL:
                manager.kill()
                time.sleep(seconds)
                manager.start()
            else:
                manager.signal(signal.SIGSTOP)
                time.sleep(seconds)
                manager.signal(signal.SIGCONT)
        time.sleep(3)
    finally:
        done.set()
        for thread in threads:
            thread.join(300)
    check(not any(thread.is_alive() for thread in threads), "an engine hangs")
    wrong = [i for answers in rounds.values() for answer in answers for i in rig.wrong(answer)]
    same_bytes(place)
    # Hits come back: what engine 1 computes now, engine 2 finds.
    fresh = shared_prefixes(rig.seed + 1, 16)
    first.ask(fresh)
    await_state(one, "all blocks", lambda s: s["catalog"]["blocks"] >= unique_blocks(fresh))
    await_hits(second, fresh)
    count = sum(len(answers) for answers in rounds.values())
    explained(rig, sorted(set(wrong)), place)
    return f"{count * len(rig.prompts)} requests, {len(wrong)} differ by batch shape; hits came back"


def await_hits(engine: Engine, prompts: list[Tokens]) -> None:
    """Until the engine, with nothing of its own, finds all of them."""
    wanted = sum(map(restorable, prompts))
    until = time.monotonic() + 60
    while True:
        engine.reset()
        found = sum(engine.ask([prompt])[0]["cached"] for prompt in prompts)
        if found >= wanted:
            return
        check(time.monotonic() < until, f"only {found} of {wanted} tokens were found when all was well again")


def engine_killed(rig: Rig) -> str:
    """Engine 1 killed while it saves: nothing stays held, engine 2 goes on."""
    place = rig.place()
    one, two, first, second = rig.pair(place, audit=True)
    first.send(rig.prompts)
    await_state(one, "the first blocks", lambda s: s["catalog"]["blocks"] >= 50)
    first.kill()
    state = await_state(one, "no session", lambda s: s["sessions"]["open"] <= OBSERVER and not s["holds"])
    check(not state["holds"], f"held: {state['holds']}")
    wrong = rig.wrong(second.ask(rig.prompts))
    loaded = same_bytes(place)
    explained(rig, wrong, place)
    return f"nothing held after the exit; {loaded} blocks restored by engine 2, all bytes equal"


def manager_killed_before_load(rig: Rig) -> str:
    """The local Manager killed between a promise and its load: the promise is kept."""
    place = rig.place()
    one = rig.manager(place, "manager-1")
    first = rig.engine(place, "engine-1", one, audit=True)
    prompt = max(rig.prompts, key=len)
    index = rig.prompts.index(prompt)
    first.ask([prompt])
    await_state(one, "all blocks", lambda s: s["catalog"]["blocks"] >= len(prompt) // 32)
    first.end()
    (place / "kill-before-load").write_text(str(one.pid))
    again = rig.engine(place, "engine-2", one, audit=True)
    answer = again.ask([prompt])[0]
    check(not (place / "kill-before-load").exists(), "the Manager was not killed, so nothing was tested")
    check(one.await_exit(60), "the Manager was killed and did not end")
    check(answer["cached"] == restorable(prompt), f"{answer['cached']} of {restorable(prompt)} tokens were found")
    check(answer["tokens"] == rig.expected[index], "wrong tokens")
    same_bytes(place)
    return f"{answer['cached']} tokens restored from a dead Manager's memory, right"


def flipped_byte(rig: Rig) -> str:
    """A byte flipped in the source's pool, digests on: a miss, and right tokens."""
    place = rig.place()
    one = rig.manager(place, "manager-1", "--digest=always")
    two = rig.manager(place, "manager-2", "--digest=always")
    prompt = max(rig.prompts, key=len)
    index = rig.prompts.index(prompt)
    first = rig.engine(place, "engine-1", one)
    first.ask([prompt])
    await_state(one, "all blocks", lambda s: s["catalog"]["blocks"] >= len(prompt) // 32)
    flipped = flip_pool(one.pid)
    second = rig.engine(place, "engine-2", two)
    answer = second.ask([prompt])[0]
    check(answer["tokens"] == rig.expected[index], "wrong tokens")
    check(answer["cached"] < restorable(prompt), "the block with the wrong byte was restored")
    state = two.stat() or {}
    return f"{flipped} bytes flipped; {answer['cached']} tokens restored, the rest computed; digests: {state.get('digests')}"


def flip_pool(pid: int) -> int:
    """Flips one byte of every 128 KiB of a Manager's arenas that are in use: a lever outside of the product."""
    flipped = 0
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        for line in maps:
            if "orbitkv-arena" not in line and "orbitkv-pool" not in line:
                continue
            begin, end = (int(x, 16) for x in line.split()[0].split("-"))
            for at in range(begin, end, 128 << 10):
                memory.seek(at)
                page = memory.read(1)
                if page != b"\0":
                    memory.seek(at)
                    memory.write(bytes([page[0] ^ 0x40]))
                    flipped += 1
    check(flipped > 0, "no byte of the pool was found to flip")
    return flipped


def other_names(rig: Rig) -> str:
    """Another revision of the weights, another dtype, another cache salt: no hit."""
    place = rig.place()
    one = rig.manager(place, "manager-1")
    prompts = rig.prompts[:8]
    first = rig.engine(place, "engine-1", one)
    first.ask(prompts)
    await_state(one, "all blocks", lambda s: s["catalog"]["blocks"] >= unique_blocks(prompts))
    first.reset()
    salted = first.ask([prompts[0]], salt="another tenant")[0]["cached"]
    first.end()
    revision = rig.engine(place, "revision", one, llm={"seed": 1}, wait=False)
    dtype = rig.engine(place, "dtype", one, llm={"dtype": "bfloat16"}, wait=False)
    revision.await_start()
    dtype.await_start()
    # Prompts of this test share prefixes, so only the first request of each can be judged.
    seen = {"salt": salted}
    for name, engine in (("revision", revision), ("dtype", dtype)):
        seen[name] = engine.ask([prompts[0]])[0]["cached"]
    own = engine_hits(rig, place, one, prompts)
    check(own == restorable(prompts[0]), f"the control found {own} tokens")
    check(not any(seen.values()), f"hits under another name: {seen}")
    return f"hits: {seen}; the same model again: {own} tokens"


def engine_hits(rig: Rig, place: pathlib.Path, manager: Manager, prompts: list[Tokens]) -> int:
    """What the same model finds: the control."""
    engine = rig.engine(place, "control", manager)
    return int(engine.ask([prompts[0]])[0]["cached"])


def refusals(rig: Rig) -> str:
    """No Manager, or an unknown option: refused with one clear line; or, by option, an engine without it."""
    place = rig.place()
    nobody = place / "nobody.sock"
    seen = []
    for name, connector, expected in (
        ("absent", {"orbitkv.bootstrap_socket": str(nobody)}, str(nobody)),
        ("unknown", {"orbitkv.bootstrap_socket": str(nobody), "orbitkv.wait": True}, "orbitkv.wait"),
    ):
        try:
            Engine(place, name, connector)
            raise Failed(f"{name}: the engine started")
        except RuntimeError:
            log = (place / f"{name}.log").read_text()
            check(expected in log, f"{name}: its log does not name {expected}")
            seen.append(name)
    lenient = Engine(place, "lenient", {"orbitkv.bootstrap_socket": str(nobody), "orbitkv.require_manager": False})
    rig.keep(lenient)
    prompts = rig.prompts[:8]
    answers = lenient.ask(prompts)
    wrong = [i for i, a in enumerate(answers) if a["tokens"] != rig.expected[i]]
    explained(rig, wrong, place)
    manager = Manager(place, "nobody", POOL)
    rig.keep(manager)
    fresh = shared_prefixes(rig.seed + 2, 8)
    await_state(manager, "both sessions of the engine", lambda s: s["sessions"]["open"] >= OBSERVER + 2)
    # The scheduler hears of its workers' sessions with a step: what that one computes comes with the next.
    until = time.monotonic() + 60
    while not (manager.stat() or {"catalog": {"blocks": 0}})["catalog"]["blocks"]:
        check(time.monotonic() < until, "nothing was saved once the Manager was there")
        lenient.ask(fresh)
    return f"refused: {', '.join(seen)}; went on without a Manager, and used it once it came"


def restarts(rig: Rig, times: int = 20) -> str:
    """An engine started again and again leaves nothing with its Manager."""
    place = rig.place()
    one = rig.manager(place, "manager-1")
    prompts = rig.prompts[:4]

    def census() -> tuple[int, int]:
        fds = len(list(pathlib.Path(f"/proc/{one.pid}/fd").iterdir()))
        maps = len(pathlib.Path(f"/proc/{one.pid}/maps").read_text().splitlines())
        return fds, maps

    def once(number: int) -> None:
        engine = rig.engine(place, f"engine-{number}", one)
        engine.ask(prompts)
        engine.kill() if number % 2 else engine.end()
        await_state(one, "nothing held", lambda s: not s["holds"] and s["sessions"]["open"] <= OBSERVER)

    once(0)
    before = census()
    for number in range(1, times + 1):
        once(number)
    after = census()
    check(after[0] <= before[0] + 2, f"descriptors {before[0]} -> {after[0]}")
    check(after[1] <= before[1] + 8, f"mappings {before[1]} -> {after[1]}")
    return f"{times} restarts: descriptors {before[0]} -> {after[0]}, mappings {before[1]} -> {after[1]}, nothing held"


def transformers(rig: Rig) -> str:
    """transformers' DynamicCache, restored on another Manager: the same generation, token for token."""
    place = rig.place()
    one = rig.manager(place, "manager-1")
    two = rig.manager(place, "manager-2")
    result = subprocess.run(
        [str(PYTHON), str(HERE / "generation.py"), str(one.socket), str(two.socket)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "adapter" / "python"), "HF_HUB_OFFLINE": "1", "PATH": "/usr/bin:/bin"},
    )
    check(result.returncode == 0, (result.stderr or result.stdout).strip()[-500:])
    return result.stdout.strip().splitlines()[-1]


def multi_connector(rig: Rig) -> str:
    """Beside NixlConnector under vLLM's MultiConnector, in either order: each brings what is asked of it."""
    place = rig.place()
    pairs = []
    for number in (1, 2):
        manager = rig.manager(place, f"manager-{number}")
        ours = {
            "kv_connector": "OrbitKVConnector", "kv_connector_module_path": "orbitkv.vllm", "kv_role": "kv_both",
            "kv_connector_extra_config": {"orbitkv.bootstrap_socket": str(manager.socket), **PATIENT},
        }  # fmt: skip
        role = "kv_producer" if number == 1 else "kv_consumer"
        nixl = {"kv_connector": "NixlConnector", "kv_role": role, "kv_buffer_device": "cpu"}
        order = [nixl, ours] if number == 1 else [ours, nixl]
        transfer = {
            "kv_connector": "MultiConnector", "kv_role": "kv_both", "kv_connector_extra_config": {"connectors": order},
        }  # fmt: skip
        side = {"VLLM_NIXL_SIDE_CHANNEL_PORT": str(free_port()), "UCX_TLS": "tcp,self"}
        # NIXL takes models at two paths for two models.
        options: dict[str, Any] = {"transfer": transfer, "environment": side, "one_model": True}
        engine = rig.engine(place, f"engine-{number}", None, wait=False, **options)
        pairs.append((manager, engine))
    (one, first), (_, second) = pairs
    first.await_start()
    second.await_start()
    prompts = rig.prompts[:8]
    wrong = rig.wrong(first.ask(prompts), list(range(8)))
    await_state(one, "all blocks", lambda s: s["catalog"]["blocks"] >= unique_blocks(prompts))
    # One after the other: a prompt that is asked for with another one takes what that one has in the engine's cache.
    answers = [second.ask([prompt])[0] for prompt in prompts]
    wrong += rig.wrong(answers, list(range(8)))
    found = [answer["cached"] for answer in answers]
    check(found == [restorable(p) for p in prompts], f"OrbitKV brought {found} tokens of {[restorable(p) for p in prompts]}")
    # Prefill here, decode there. A load that fails has no tokens, under vLLM's default policy.
    index, prompt = 8, rig.prompts[8]
    check("NIXL compatibility check passed" not in second.log.read_text(), "NIXL was used before it was asked for")
    told = first.ask([prompt], max_tokens=1, transfer={"do_remote_decode": True, "do_remote_prefill": False})[0]["transfer"]
    check(bool(told), "engine 1 told nothing of its blocks for NIXL")
    decoded = second.ask([prompt], transfer=told)
    wrong += rig.wrong(decoded, [index])
    check("NIXL compatibility check passed" in second.log.read_text(), "NIXL was not used")
    check(len(decoded[0]["tokens"]) == len(rig.expected[index]), f"NIXL's load failed: {decoded[0]['tokens']}")
    explained(rig, wrong, place)
    return f"8 prompts by OrbitKV, one of {len(prompt)} tokens by NIXL, {len(wrong)} differ by batch shape"


def free_port() -> int:
    """A port of this host that nobody listens at now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


CASES: dict[str, Callable[[Rig], str]] = {
    "equal-answers": equal_answers,
    "preempted": preempted,
    "shuffled": shuffled,
    "managers-killed": managers_killed,
    "managers-frozen": managers_frozen,
    "engine-killed": engine_killed,
    "manager-killed-before-load": manager_killed_before_load,
    "flipped-byte": flipped_byte,
    "other-names": other_names,
    "refusals": refusals,
    "refused-models": refused_models,
    "hybrid-attention": hybrid_attention,
    "tensor-parallel": tensor_parallel,
    "multi-connector": multi_connector,
    "transformers": transformers,
    "restarts": restarts,
}
