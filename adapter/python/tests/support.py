"""What tests share: Managers in processes of their own, conditions with deadlines, programs in other processes."""

from __future__ import annotations

import atexit
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any, Callable

import orbitkv

ROOT = pathlib.Path(__file__).resolve().parents[3]
HOME = pathlib.Path(os.environ.get("ORBITKV_TEST_HOME", ROOT / "cli" / "target" / "orbitkv"))
LAUNCHER = HOME / "bin" / "orbitkv"
DEADLINE = 30.0

needs_manager = unittest.skipUnless(
    os.access(LAUNCHER, os.X_OK), f"{LAUNCHER} is missing: build the cli module, or set ORBITKV_TEST_HOME"
)


def environment() -> dict[str, str]:
    """This one's, without settings of OrbitKV, and with this package."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORBITKV_")}
    for name in ("ORBITKV_JAVA_OPTS",):
        if name in os.environ:
            kept[name] = os.environ[name]
    kept["PYTHONPATH"] = str(pathlib.Path(__file__).resolve().parents[1])
    return kept


def until(what: str, condition: Callable[[], Any], deadline: float = DEADLINE) -> Any:
    """Waits for a condition, which it returns."""
    end = time.monotonic() + deadline
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {deadline} s in vain until {what}")
        time.sleep(0.01)


class Manager:
    """A Manager in a process of its own; killed at the end of the test program at the latest."""

    def __init__(self, *options: str, pool: str = "64MiB") -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="okvpy-", dir="/tmp"))
        self.socket = str(self.directory / "m.sock")
        out, err = self.directory / "out", self.directory / "err"
        line = [str(LAUNCHER), "manager", "--json", "--socket", self.socket, "--pool-bytes", pool]
        if "--membership" not in options and "--registry-directory" not in options:
            line += ["--membership", "none"]
        with out.open("wb") as o, err.open("wb") as e:
            self.process = subprocess.Popen([*line, *options], stdout=o, stderr=e, env=environment())
        atexit.register(self.end)
        try:
            until("the Manager is ready", lambda: self._ready(out, err), 60)
        except BaseException:
            self.end()
            raise

    def _ready(self, out: pathlib.Path, err: pathlib.Path) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"Manager ended with {self.process.returncode}: {err.read_text()}")
        return out.read_text().endswith("\n")

    def kill(self) -> None:
        """SIGKILL, and its exit."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """SIGSTOP, and all of its threads have stopped: it answers nothing."""
        self.process.send_signal(signal.SIGSTOP)
        until("the Manager has stopped", self._stopped)

    def _stopped(self) -> bool:
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat")
        try:
            return all(task.read_text().rpartition(")")[2].split()[0] == "T" for task in tasks)
        except FileNotFoundError:
            return False  # a thread that has ended meanwhile

    def resume(self) -> None:
        """SIGCONT."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Kills it and removes its folder."""
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


_shared: list[Manager] = []


def shared() -> Manager:
    """One Manager for all tests that leave it as it was."""
    if not _shared:
        _shared.append(Manager())
    return _shared[0]


def name(text: str = "") -> orbitkv.BlockName:
    """A name that no other test uses."""
    return orbitkv.BlockName("python-tests", os.urandom(16) + text.encode())


def program(source: str, *arguments: str) -> subprocess.Popen[str]:
    """Runs Python in another process, with this package."""
    return subprocess.Popen(
        [sys.executable, "-c", source, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def finished(process: subprocess.Popen[str]) -> str:
    """What it printed, once it ended with 0."""
    out, err = process.communicate(timeout=DEADLINE * 2)
    if process.returncode != 0:
        raise AssertionError(f"ended with {process.returncode}: {err}")
    return out


def publish(client: orbitkv.Client, blocks: dict[orbitkv.BlockName, bytes]) -> None:
    """Stores blocks."""
    with client.register(sum(len(data) for data in blocks.values())) as memory:
        pieces = []
        at = 0
        for block, data in blocks.items():
            memory.buffer[at : at + len(data)] = data
            pieces.append(orbitkv.Piece(block, memory, at, len(data)))
            at += len(data)
        results = client.publish(pieces).wait(DEADLINE)
        assert results is not None
        for result in results:
            if result.status != "stored":
                raise AssertionError(f"{result}")
