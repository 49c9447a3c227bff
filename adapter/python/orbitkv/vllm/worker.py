"""The worker's side: copies promised blocks into the engine's cache, and computed ones out of it."""

from __future__ import annotations

import logging
import queue
import threading
import time
from typing import TYPE_CHECKING

from orbitkv import Client, OrbitKVError, Piece, Publication, RegisteredMemory, StaleEpoch
from orbitkv._native import memcpy
from orbitkv.memory import Destination
from orbitkv.restore import Claim

from .keys import engine_instance, namespace
from .link import ManagerLink
from .metadata import Load, Save, StepMetadata, StepReport, WorkerState
from .options import Options
from .placement import Placement, check_groups, place
from .stats import OrbitKVStats
from .touch import Toucher, pieces_of

if TYPE_CHECKING:
    import torch

    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import KVCacheConfig

logger = logging.getLogger("vllm.orbitkv")

PIECES = 1024
"""Blocks of one publish."""


class Staging:
    """Shared memory with one Manager, in slots of a block each. A slot is filled again once its publish has ended.

    Used by the worker's thread only. No clock frees a slot: a Manager that is frozen may still read it.
    """

    def __init__(self, client: Client, block_bytes: int, limit: int) -> None:
        self._client = client
        self._slot = -(-block_bytes // 4096) * 4096
        self._bytes = block_bytes
        slots = max(1, limit // self._slot)
        self._memory: RegisteredMemory = client.register(slots * self._slot)
        self._address = Destination(self._memory.buffer).address
        self._toucher = Toucher([(self._address, slots * self._slot)])
        self._free = list(range(slots))
        self._pending: list[tuple[Publication, list[int], list[bytes]]] = []
        self._hashes: set[bytes] = set()

    def save(self, space: str, save: Save, placement: Placement) -> list[bytes]:
        """Copies the blocks and publishes them; on return the engine's blocks are read no more.

        :return: the hashes of those that were not taken
        """
        dropped: list[bytes] = []
        pieces: list[Piece] = []
        slots: list[int] = []
        hashes: list[bytes] = []
        for block_hash, block in zip(save.hashes, save.block_ids):
            if block_hash in self._hashes:
                continue
            if not self._free:
                dropped.append(block_hash)
                continue
            slot = self._free.pop()
            at = self._address + slot * self._slot
            for address, size in placement.segments(block):
                memcpy(at, address, size)
                at += size
            pieces.append(Piece((space, block_hash), self._memory, slot * self._slot, self._bytes))
            slots.append(slot)
            hashes.append(block_hash)
            self._hashes.add(block_hash)
            if len(pieces) == PIECES:
                dropped += self._publish(pieces, slots, hashes)
                pieces, slots, hashes = [], [], []
        if pieces:
            dropped += self._publish(pieces, slots, hashes)
        return dropped

    def _publish(self, pieces: list[Piece], slots: list[int], hashes: list[bytes]) -> list[bytes]:
        try:
            self._pending.append((self._client.publish(pieces, room_timeout=0), slots, hashes))
            return []
        except OrbitKVError as e:
            # Provably not submitted, so the slots are ours.
            logger.debug("OrbitKV: %s", e)
            self._free += slots
            self._hashes.difference_update(hashes)
            return hashes

    def reap(self, stats: OrbitKVStats) -> list[bytes]:
        """Takes back the slots of publishes that have ended; the hashes of blocks that were not stored."""
        dropped: list[bytes] = []
        going = []
        for publication, slots, hashes in self._pending:
            if publication.pending:
                going.append((publication, slots, hashes))
                continue
            self._free += slots
            self._hashes.difference_update(hashes)
            try:
                results = publication.wait(0) or []
            except OrbitKVError as e:
                logger.debug("OrbitKV: %s", e)
                dropped += hashes
                continue
            for result, block_hash in zip(results, hashes):
                if result.status == "fault":
                    dropped.append(block_hash)
                else:
                    stats.add("saved_blocks")
                    stats.add("saved_bytes", self._bytes)
        self._pending = going
        return dropped

    def close(self) -> None:
        """Withdraws the memory. The Manager's own mapping of it lives as long as the Manager reads it."""
        self._toucher.close()
        self._memory.close()


class Worker:
    """One a worker process. Its methods are called by the engine's thread, but for the loads beside a forward."""

    def __init__(self, options: Options, vllm_config: "VllmConfig", kv_cache_config: "KVCacheConfig") -> None:
        parallel = vllm_config.parallel_config
        check_groups(kv_cache_config)
        self._options = options
        self._vllm_config = vllm_config
        self._kv_cache_config = kv_cache_config
        self.rank = parallel.rank
        self._space = ""
        self._placement: Placement | None = None
        self._toucher: Toucher | None = None
        # Newest last. One Manager may stand here twice, if a session with it was lost.
        self._sessions: list[tuple[Client, Staging | None]] = []
        self._lock = threading.Lock()
        engine_id = str(vllm_config.kv_transfer_config.engine_id)
        self._link = ManagerLink(
            options.socket(parallel.rank % parallel.tensor_parallel_size),
            engine_instance(engine_id),
            "worker",
            self._attach,
        )
        self._loads: queue.SimpleQueue[Load | None] = queue.SimpleQueue()
        self._loader: threading.Thread | None = None
        self._loaded: queue.SimpleQueue[tuple[Load, bool, float]] = queue.SimpleQueue()
        self._outstanding = 0
        self._lost: list[Client] = []
        self._failed_blocks: set[int] = set()
        self._dropped: list[bytes] = []
        self._stats = OrbitKVStats()

    # ---- start and end

    def register(self, kv_caches: "dict[str, torch.Tensor]") -> None:
        """Takes the engine's cache, and attaches to the Manager."""
        self._placement = place(kv_caches, self._kv_cache_config)
        self._toucher = Toucher(pieces_of(self._placement))
        self._space = namespace(self._vllm_config, self._kv_cache_config, self._options.model_id, self.rank)
        self._link.start(self._options.require_manager)
        logger.info(
            "OrbitKV: worker %d keeps blocks of %d bytes (%d pieces) as %s in the Manager behind %s",
            self.rank,
            self._placement.block_bytes,
            len(self._placement.runs),
            self._space,
            self._link.socket,
        )

    def close(self) -> None:
        """Ends loads under way, then the sessions."""
        if self._toucher is not None:
            self._toucher.close()
        if self._loader is not None:
            self._loads.put(None)
            self._loader.join()
        self._link.close()
        with self._lock:
            sessions, self._sessions = self._sessions, []
        for client, staging in sessions:
            if staging is not None:
                staging.close()
            client.close()

    def _attach(self, client: Client) -> None:
        """By whoever connects: the memory for saves comes with the session."""
        assert self._placement is not None
        staging = None
        if self._options.save:
            staging = Staging(client, self._placement.block_bytes, self._options.staging_bytes)
        with self._lock:
            self._sessions.append((client, staging))

    # ---- loads

    def start_loads(self, step: StepMetadata) -> None:
        """Begins the step's loads: here and now if nothing is computed, else beside the engine's thread."""
        self._forget_lost(step.epochs)
        for load in step.loads:
            self._outstanding += 1
            if step.idle:
                self._load(load)
                continue
            if self._loader is None:
                self._loader = threading.Thread(target=self._run_loads, name="orbitkv-load", daemon=True)
                self._loader.start()
            self._loads.put(load)

    def _run_loads(self) -> None:
        while (load := self._loads.get()) is not None:
            self._load(load)

    def _load(self, load: Load) -> None:
        """Never raises: a load that fails names its blocks, once no copy can reach them."""
        placement = self._placement
        assert placement is not None
        epoch, record, generation, first = load.plans[self.rank]
        began = time.perf_counter()
        good = True
        try:
            with self._claim(epoch, record, generation) as claim:
                for i, block in enumerate(load.block_ids, first):
                    if claim.blocks[i].index != i or claim.blocks[i].bytes != placement.block_bytes:
                        raise ValueError(
                            f"block {i} of plan {record} has {claim.blocks[i].bytes} bytes, here it has "
                            f"{placement.block_bytes}"
                        )
                    claim.copy_segments(i, placement.segments(block))
        except Exception as e:
            logger.error("OrbitKV: load of request %s failed, its blocks are computed: %r", load.request_id, e)
            good = False
        self._loaded.put((load, good, time.perf_counter() - began))

    def _claim(self, epoch: str, record: int, generation: int) -> Claim:
        """By the session that the plan was granted to: one that came later refuses it, and has written nothing."""
        with self._lock:
            clients = [client for client, _ in self._sessions if client.manager_epoch == epoch]
        if not clients:
            raise LookupError(f"no session with Manager {epoch}")
        for client in clients[:0:-1]:
            try:
                return client.claim(record, generation)
            except StaleEpoch:
                pass
        return clients[0].claim(record, generation)

    def finished_loads(self) -> set[str]:
        """The requests whose loads have ended since the last call, each once, failed or not."""
        ended: set[str] = set()
        while not self._loaded.empty():
            load, good, seconds = self._loaded.get()
            self._outstanding -= 1
            ended.add(load.request_id)
            self._stats.add("load_seconds", seconds)
            if good and self._placement is not None:
                self._stats.add("loaded_blocks", len(load.block_ids))
                self._stats.add("loaded_bytes", len(load.block_ids) * self._placement.block_bytes)
            else:
                self._stats.add("failed_loads")
                self._failed_blocks.update(load.block_ids)
        return ended

    def failed_blocks(self) -> set[int]:
        """The engine's blocks of failed loads, no later than the request that they are reported with."""
        failed, self._failed_blocks = self._failed_blocks, set()
        return failed

    def _forget_lost(self, used: frozenset[str]) -> None:
        """Closes the clients of Managers that were lost and of which nobody holds a promise any more."""
        self._lost += self._link.lost()
        if not self._lost or self._outstanding:
            return
        over = [client for client in self._lost if client.manager_epoch not in used]
        self._lost = [client for client in self._lost if client.manager_epoch in used]
        with self._lock:
            ended = [session for session in self._sessions if session[0] in over]
            self._sessions = [session for session in self._sessions if session[0] not in over]
        for client, staging in ended:
            if staging is not None:
                staging.close()
            client.close()

    # ---- saves

    def save(self, step: StepMetadata) -> None:
        """Copies the step's complete blocks out of the engine's cache. When it returns, none is read any more."""
        client = self._link.client
        with self._lock:
            sessions = list(self._sessions)
        staging = next((staging for of, staging in sessions if of is client), None)
        for _, each in sessions:
            if each is not None:
                self._drop(each.reap(self._stats))
        assert self._placement is not None
        for save in step.saves:
            self._drop(save.hashes if staging is None else staging.save(self._space, save, self._placement))

    def _drop(self, hashes: list[bytes]) -> None:
        self._stats.add("dropped_blocks", len(hashes))
        self._dropped += hashes

    def report(self) -> StepReport:
        """For the scheduler, with the step's output."""
        dropped, self._dropped = self._dropped, []
        return StepReport({self.rank: WorkerState(self._space, self._link.epoch)}, dropped)

    def stats(self) -> OrbitKVStats | None:
        """The figures since the last call."""
        return self._stats.take()
