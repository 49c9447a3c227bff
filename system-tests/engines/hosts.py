"""Managers and engines as processes, for the cases."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

from environment import HERE, PYTHON, ROOT

COMMAND = pathlib.Path(os.environ.get("ORBITKV_HOME", ROOT / "cli" / "target" / "orbitkv")) / "bin" / "orbitkv"
START_SECONDS = 180


class Manager:
    """One Manager, on this host, with its peers by a registry directory."""

    def __init__(self, folder: pathlib.Path, name: str, *options: str) -> None:
        self.folder = folder
        self.name = name
        self.options = options
        self.socket = folder / f"{name}.sock"
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        """Starts it and waits until engines can attach."""
        registry = self.folder / "registry"
        registry.mkdir(mode=0o700, exist_ok=True)
        log = open(self.folder / f"{self.name}.log", "a")
        self.process = subprocess.Popen(
            [str(COMMAND), "manager", f"--registry-directory={registry}", f"--socket={self.socket}", *self.options],
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )
        until = time.monotonic() + START_SECONDS
        while self.stat(quiet=True) is None:
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"Manager {self.name} did not start: see {self.folder / self.name}.log")
            time.sleep(0.2)

    def stat(self, quiet: bool = False) -> dict[str, Any] | None:
        """Its state; None if it does not answer."""
        result = subprocess.run(
            [str(COMMAND), "stat", f"--socket={self.socket}", "--json"], capture_output=True, text=True, timeout=60
        )
        if result.returncode:
            if not quiet:
                print(result.stderr.strip(), file=sys.stderr)
            return None
        return dict(json.loads(result.stdout))

    @property
    def pid(self) -> int:
        """Of the Manager's process itself."""
        assert self.process is not None
        return self.process.pid

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to it."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Ends it by SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def await_exit(self, seconds: float) -> bool:
        """Whether it ends within that time: its threads may outlive its mappings for a while."""
        assert self.process is not None
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self) -> None:
        """Ends it whatever its state."""
        assert self.process is not None
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


class Engine:
    """One vLLM engine, driven by lines of JSON."""

    def __init__(
        self,
        folder: pathlib.Path,
        name: str,
        connector: dict[str, Any] | None,
        *,
        llm: dict[str, Any] | None = None,
        model: dict[str, Any] | None = None,
        audit: bool = False,
        kv_gib: int = 1,
        wait: bool = True,
        transfer: dict[str, Any] | None = None,
        environment: dict[str, str] | None = None,
        one_model: bool = False,
    ) -> None:
        """``one_model``: at one path for all engines of the folder, where each has its own otherwise."""
        self.name = name
        self.log = folder / f"{name}.log"
        place = folder if one_model else folder / name
        place.mkdir(exist_ok=True)
        settings: dict[str, Any] = {"folder": str(place), "connector": connector, "llm": llm or {}, "model": model or {}}
        path = [str(ROOT / "adapter" / "python")]
        own = dict(os.environ)
        if audit:
            settings["module"] = "audit"
            path.append(str(HERE))
            own["ORBITKV_AUDIT"] = str(folder)
        if transfer is not None:
            settings["transfer"] = transfer
        own.update(
            PYTHONPATH=os.pathsep.join(path),
            VLLM_CPU_KVCACHE_SPACE=str(kv_gib),
            VLLM_CPU_OMP_THREADS_BIND="nobind",
            HF_HUB_OFFLINE="1",
            VLLM_HOST_IP="127.0.0.1",
        )
        own.update(environment or {})
        self.process = subprocess.Popen(
            [str(PYTHON), str(HERE / "engine.py"), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(self.log, "a"),
            text=True,
            env=own,
            start_new_session=True,
        )
        if wait:
            self.await_start()

    def await_start(self) -> None:
        """Waits until it serves."""
        answer = self._answer()
        if "ready" not in answer:
            raise RuntimeError(f"engine {self.name} did not start: {answer.get('fault')}; see {self.log}")

    def send(self, prompts: list[list[int]], **order: Any) -> None:
        """Asks for answers to prompts, at most eight at a time."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"prompts": prompts, **order}) + "\n")
        self.process.stdin.flush()

    def receive(self) -> list[dict[str, Any]]:
        """The answers to what was sent."""
        return list(self._answer()["results"])

    def ask(self, prompts: list[list[int]], **order: Any) -> list[dict[str, Any]]:
        """Sends and receives."""
        self.send(prompts, **order)
        return self.receive()

    def timed(self, prompt: list[int], **order: Any) -> tuple[float, dict[str, Any]]:
        """One prompt alone: seconds as the engine's process measures them, and the answer."""
        self.send([prompt], **order)
        answer = self._answer()
        return float(answer["seconds"]), dict(answer["results"][0])

    def reset(self) -> None:
        """Makes it forget its own prefix cache."""
        self.send([], reset=True)
        self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"engine {self.name} ended with {self.process.wait()}: see {self.log}")
        return dict(json.loads(line))

    def signal(self, number: signal.Signals) -> None:
        """To all its processes."""
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """Ends all its processes by SIGKILL."""
        try:
            self.signal(signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def end(self) -> None:
        """Ends it as a user would, then for certain."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
            self.process.wait(30)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            pass
        self.kill()
