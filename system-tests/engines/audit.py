"""The connector, writing down the SHA-256 of every block that it saves and that it restored: a lever of the tests.

``ORBITKV_AUDIT`` names the folder; a line is ``saved|loaded <namespace>:<name's hash> <bytes' hash>``.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import pathlib
import signal
from typing import Any

from orbitkv.vllm import OrbitKVConnector as Connector
from orbitkv.vllm import scheduler as scheduler_module
from orbitkv.vllm import worker as worker_module

_file = open(os.path.join(os.environ["ORBITKV_AUDIT"], f"{os.getpid()}.txt"), "a", buffering=1)


def _bytes_of(placement: Any, block: int) -> str:
    digest = hashlib.sha256()
    for address, size in placement.segments(block):
        digest.update(ctypes.string_at(address, size))
    return digest.hexdigest()


_save = worker_module.Staging.save


def save(self: Any, space: str, job: Any, placement: Any) -> list[bytes]:
    dropped = _save(self, space, job, placement)
    for block_hash, block in zip(job.hashes, job.block_ids):
        if block_hash not in dropped:
            print("saved", f"{space}:{block_hash.hex()}", _bytes_of(placement, block), file=_file)
    return dropped


_allocated = scheduler_module.Scheduler.allocated


def allocated(self: Any, request: Any, blocks: Any, external: int) -> None:
    lookup = self.track(request).wish.lookup
    _allocated(self, request, blocks, external)
    if external and lookup is not None:
        load = self._loads[request.request_id][0]
        end = lookup.start + lookup.blocks
        load.hashes = self._requests[request.request_id].hashes.hashes[end - len(load.block_ids) : end]


_load = worker_module.Worker._load


def load(self: Any, job: Any) -> None:
    victim = pathlib.Path(os.environ["ORBITKV_AUDIT"], "kill-before-load")
    if victim.exists():
        pid = int(victim.read_text())
        os.kill(pid, signal.SIGKILL)
        # Dead for certain: its mappings are gone.
        while os.path.exists(f"/proc/{pid}/maps") and open(f"/proc/{pid}/maps").read():
            pass
        victim.unlink()
    _load(self, job)
    for block_hash, block in zip(job.hashes, job.block_ids):
        print("loaded", f"{self._space}:{block_hash.hex()}", _bytes_of(self._placement, block), file=_file)


worker_module.Staging.save = save  # type: ignore[method-assign]
scheduler_module.Scheduler.allocated = allocated  # type: ignore[method-assign]
worker_module.Worker._load = load  # type: ignore[method-assign]


class OrbitKVConnector(Connector):
    """The product's, audited."""
