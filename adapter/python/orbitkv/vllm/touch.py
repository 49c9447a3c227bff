"""Makes memory present before the first copy needs it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator

from orbitkv._native import populate

from .placement import Placement

logger = logging.getLogger("vllm.orbitkv")

STEP_BYTES = 32 << 20
"""Made present by one call, so that the engine's own page faults do not wait long for it."""


class Toucher:
    """A thread that asks the kernel for the pages of writable memory, in the order given. It ends by itself.

    Memory that was never written has no pages yet: the first load of 100 MB then waits for 25,000 page faults, which
    take longer than the copy. What the memory holds is not changed.
    """

    def __init__(self, pieces: Iterable[tuple[int, int]]) -> None:
        self._pieces = pieces
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="orbitkv-touch", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for address, size in self._pieces:
            for at in range(0, size, STEP_BYTES):
                if self._closed.is_set():
                    return
                if not populate(address + at, min(STEP_BYTES, size - at)):
                    logger.debug("OrbitKV: this kernel makes no pages present ahead; first copies are slower")
                    return

    def close(self) -> None:
        """Ends it; when it returns, the memory may go. Waits for one call at most."""
        self._closed.set()
        self._thread.join()


def pieces_of(placement: Placement) -> Iterator[tuple[int, int]]:
    """(address, bytes) of a whole cache, lowest blocks first: so the engine hands them out."""
    step = max(1, STEP_BYTES // placement.block_bytes)
    for block in range(0, placement.blocks, step):
        for run in placement.runs:
            yield run.address + block * run.stride, min(step, placement.blocks - block) * run.stride
