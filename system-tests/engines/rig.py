"""What the cases share: Managers and engines, prompts, and what may be said of their answers."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable
from typing import Any

from hosts import Engine, Manager
from prompts import shared_prefixes

POOL = "--pool-bytes=1GiB"
OBSERVER = 1
"""Sessions that asking a Manager for its state takes."""
PATIENT = {"orbitkv.lookup_timeout": 60.0}
"""For cases that are about what is found, on a machine that may be busy."""


class Failed(Exception):
    """A case that did not hold; the message says what was seen."""


def check(good: bool, seen: str) -> None:
    if not good:
        raise Failed(seen)


class Rig:
    """What cases share: a folder, the seed, prompts and what an engine without OrbitKV answers to them."""

    def __init__(self, folder: pathlib.Path, seed: int, count: int) -> None:
        self.folder = folder
        self.seed = seed
        self.prompts = shared_prefixes(seed, count)
        self.expected: list[list[int]] = []
        self._number = 0
        self._running: list[Manager | Engine] = []

    def place(self) -> pathlib.Path:
        """A folder of a case's own."""
        self._number += 1
        place = self.folder / f"case-{self._number}"
        place.mkdir()
        return place

    def manager(self, place: pathlib.Path, name: str, *options: str) -> Manager:
        manager = Manager(place, name, POOL, *options)
        self._running.append(manager)
        return manager

    def engine(self, place: pathlib.Path, name: str, manager: Manager | None, **options: Any) -> Engine:
        more = options.pop("connector", {})
        connector = None if manager is None else {"orbitkv.bootstrap_socket": str(manager.socket), **more}
        engine = Engine(place, name, connector, **options)
        self._running.append(engine)
        return engine

    def keep(self, running: Manager | Engine) -> None:
        """Ends it with the case."""
        self._running.append(running)

    def pair(self, place: pathlib.Path, **options: Any) -> tuple[Manager, Manager, Engine, Engine]:
        """Two hosts: a Manager and an engine each."""
        one = self.manager(place, "manager-1")
        two = self.manager(place, "manager-2")
        first = self.engine(place, "engine-1", one, wait=False, **options)
        second = self.engine(place, "engine-2", two, wait=False, **options)
        first.await_start()
        second.await_start()
        return one, two, first, second

    def end(self) -> None:
        """Ends what the case left."""
        for running in reversed(self._running):
            running.end()
        self._running.clear()

    def compute(self) -> None:
        """What an engine without OrbitKV answers."""
        engine = self.engine(self.place(), "reference", None)
        self.expected = [answer["tokens"] for answer in engine.ask(self.prompts)]
        self.end()

    def wrong(self, answers: list[dict[str, Any]], order: list[int] | None = None) -> list[int]:
        """The prompts whose tokens are not those of the reference."""
        indices = order if order is not None else list(range(len(self.prompts)))
        return [i for i, answer in zip(indices, answers) if answer["tokens"] != self.expected[i]]


def await_state(manager: Manager, what: str, good: Callable[[dict[str, Any]], bool], seconds: float = 60) -> dict[str, Any]:
    """Waits for a state of the Manager."""
    until = time.monotonic() + seconds
    while True:
        state = manager.stat()
        if state is not None and good(state):
            return state
        if time.monotonic() > until:
            raise Failed(f"{manager.name}: {what} did not come within {seconds} s: {state}")
        time.sleep(0.2)


def audit(place: pathlib.Path) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(saved: name -> bytes; loaded: name, bytes), as audit.py wrote them."""
    saved: dict[str, str] = {}
    loaded: list[tuple[str, str]] = []
    for file in place.glob("*.txt"):
        for line in file.read_text().splitlines():
            kind, name, content = line.split()
            if kind == "saved":
                saved.setdefault(name, content)
            else:
                loaded.append((name, content))
    return saved, loaded


def explained(rig: Rig, wrong: list[int], place: pathlib.Path) -> None:
    """Tokens that differ while the bytes agree must differ by the shape of the batch alone: asked alone, they agree."""
    if not wrong:
        return
    plain = rig.engine(place, "alone-plain", None)
    alone = [plain.ask([rig.prompts[i]], max_tokens=8)[0]["tokens"] for i in wrong]
    check(all(a != rig.expected[i] for a, i in zip(alone, wrong)), f"prompts {wrong} differ, and not by the batch's shape")


def same_bytes(place: pathlib.Path) -> int:
    """That every block that was restored has the bytes that were saved under its name; how many were restored."""
    saved, loaded = audit(place)
    unknown = [name for name, _ in loaded if name not in saved]
    check(not unknown, f"{len(unknown)} blocks were restored that nobody saved")
    differ = [name for name, content in loaded if saved[name] != content]
    check(not differ, f"{len(differ)} of {len(loaded)} restored blocks are not what was saved")
    return len(loaded)
