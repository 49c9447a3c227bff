"""The scheduler's side: promises only what lies, pinned, in the local Manager's memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from orbitkv import Client

from .keys import Adapters, BlockHashes, engine_instance
from .link import ManagerLink
from .lookup import Lookup, Shard
from .metadata import Load, Save, StepMetadata, StepReport, WorkerState
from .options import Options
from .placement import check_groups
from .promises import Promises, Wish
from .stats import OrbitKVStats

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.request import Request

KNOWN_BLOCKS = 1 << 20


class Tracked:
    """A request that the engine knows."""

    __slots__ = ("request", "hashes", "named", "wish", "saved")

    def __init__(self, request: "Request", hashes: BlockHashes, named: bool) -> None:
        self.request = request
        self.hashes = hashes
        self.named = named and not request.resumable
        """Whether its blocks have names: nothing that is unknown changes their bytes."""
        self.wish = Wish()
        self.saved = 0


class Scheduler:
    """One an engine. Its methods are called by the engine's thread, and none of them waits longer than some ms."""

    def __init__(
        self,
        options: Options,
        vllm_config: "VllmConfig",
        kv_cache_config: "KVCacheConfig",
        extra_keys: Callable[..., Any],
    ) -> None:
        check_groups(kv_cache_config)
        self._options = options
        self._extra_keys = extra_keys
        self._block_tokens: int = kv_cache_config.kv_cache_groups[0].kv_cache_spec.block_size
        self._instance = engine_instance(str(vllm_config.kv_transfer_config.engine_id))
        parallel = vllm_config.parallel_config
        ranks = range(parallel.world_size)
        self._sockets = {rank: options.socket(rank % parallel.tensor_parallel_size) for rank in ranks}
        self._workers: dict[int, WorkerState] = {}
        self._asked_first = 0.0
        self._links: dict[str, ManagerLink] = {}
        self._lost: list[Client] = []
        self._requests: dict[str, Tracked] = {}
        self._loads: dict[str, tuple[Load, Lookup]] = {}
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._known_epochs: tuple[str, ...] = ()
        self._loras = Adapters()
        self.stats = OrbitKVStats()
        self._promises = Promises(options, self.stats, self._shards, self._missed)
        for socket in self._sockets.values():
            if socket not in self._links:
                self._links[socket] = ManagerLink(socket, self._instance, "scheduler")
                self._links[socket].start(options.require_manager)

    def close(self) -> None:
        """Gives up every promise and ends the sessions."""
        for tracked in self._requests.values():
            self._promises.forget(tracked.wish)
        for client in self._lost:
            client.close()
        for link in self._links.values():
            link.close()

    # ---- lookup

    def track(self, request: "Request") -> Tracked:
        """A request, from the first time that it is seen."""
        tracked = self._requests.get(request.request_id)
        if tracked is None:
            lora: str | None = ""
            if request.lora_request is not None:
                lora = self._loras.of(request.lora_request.lora_path)
            tracked = Tracked(request, BlockHashes(request, self._extra_keys, lora or ""), lora is not None)
            self._requests[request.request_id] = tracked
        return tracked

    def matched(self, request: "Request", computed: int) -> tuple[int | None, bool]:
        """(tokens that can be loaded behind ``computed``, or None for "ask again"; whether they are loaded aside)."""
        tracked = self.track(request)
        if not tracked.named or request.skip_reading_prefix_cache or _brought(request):
            return 0, False
        hashes = tracked.hashes.update(request, self._block_tokens)
        start = computed // self._block_tokens
        # The last token is always computed: its logits are what the request is for.
        end = (request.num_tokens - 1) // self._block_tokens
        if end <= start:
            self._promises.forget(tracked.wish)
            return 0, False
        if tracked.wish.lookup is None and self._workers_unknown():
            return None, False
        blocks = self._promises.of(tracked.wish, hashes, start, end, len(self._requests) == 1)
        if blocks is None or blocks <= 0:
            return blocks, False
        return blocks * self._block_tokens, True

    def _workers_unknown(self) -> bool:
        """Whether a worker has not reported yet. All do with an engine's first step, which may be an empty one."""
        if len(self._workers) == len(self._sockets):
            return False
        now = time.monotonic()
        self._asked_first = self._asked_first or now
        return now < self._asked_first + self._options.lookup_timeout

    def _shards(self) -> list[Shard]:
        """Whom to ask; nobody unless every worker can redeem what is promised."""
        shards = []
        for rank, socket in self._sockets.items():
            client = self._links[socket].client
            worker = self._workers.get(rank)
            # A plan is good for the sessions that were there when it was made.
            if client is None or worker is None or worker.epoch != client.manager_epoch:
                return []
            shards.append(Shard(rank, client, worker.namespace))
        return shards

    def _missed(self, hashes: Sequence[bytes]) -> None:
        self.stats.add("missed_blocks", len(hashes))
        for block_hash in hashes:
            self._known.pop(block_hash, None)

    def allocated(self, request: "Request", blocks: "KVCacheBlocks", external: int) -> None:
        """The engine has room: with ``external`` tokens the promise is redeemed in the coming step."""
        tracked = self.track(request)
        if external == 0:
            # Not taken up.
            self._promises.forget(tracked.wish)
            return
        lookup = self._promises.redeem(tracked.wish)
        if lookup is None:
            # Taken up before.
            return
        (ids,) = blocks.get_block_ids()
        count = external // self._block_tokens
        # The blocks behind those that the engine had itself.
        end = lookup.start + lookup.blocks
        first = end - count
        hashes = tracked.hashes.hashes
        self.stats.add("hit_blocks", count)
        self._missed(hashes[end : (request.num_tokens - 1) // self._block_tokens])
        for block_hash in hashes[first:end]:
            self._remember(block_hash)
        load = Load(request.request_id, lookup.plans(first - lookup.start), ids[first:end])
        self._loads[request.request_id] = (load, lookup)

    # ---- a step

    def step(self, output: "SchedulerOutput") -> StepMetadata:
        """What the workers do with the step that was just planned."""
        self._promises.next_step()
        epochs: set[str] = set()
        for tracked in self._requests.values():
            if tracked.wish.lookup is not None:
                epochs |= tracked.wish.lookup.epochs
        for _, lookup in self._loads.values():
            epochs |= lookup.epochs
        loads = [load for load, _ in self._loads.values()]
        self._loads.clear()
        self._close_lost(epochs)
        return StepMetadata(loads, self._saves(output), output.total_num_scheduled_tokens == 0, frozenset(epochs))

    def _saves(self, output: "SchedulerOutput") -> list[Save]:
        if not self._options.save:
            return []
        epochs = tuple(self._workers[rank].epoch if rank in self._workers else "" for rank in self._sockets)
        if epochs != self._known_epochs:
            self._known_epochs = epochs
            self._known.clear()
            for tracked in self._requests.values():
                tracked.saved = 0
        if not all(epochs) or output.kv_connector_block_state is None:
            return []
        computed = {new.req_id: new.num_computed_tokens for new in output.scheduled_new_reqs}
        cached = output.scheduled_cached_reqs
        computed.update(zip(cached.req_ids, cached.num_computed_tokens))
        saves = []
        for request_id, scheduled in output.num_scheduled_tokens.items():
            tracked = self._requests.get(request_id)
            if tracked is None or not tracked.named:
                continue
            # Of tokens that are confirmed; those in flight may be replaced.
            tokens = min(computed[request_id] + scheduled, tracked.request.num_tokens)
            full = tokens // self._block_tokens
            if full <= tracked.saved:
                continue
            hashes = tracked.hashes.update(tracked.request, self._block_tokens)
            new = [i for i in range(tracked.saved, full) if hashes[i] not in self._known]
            tracked.saved = full
            if not new:
                continue
            ids = output.kv_connector_block_state.get_block_ids(request_id)
            if ids is None:
                continue
            saves.append(Save([hashes[i] for i in new], [ids[0][i] for i in new]))
            for i in new:
                self._remember(hashes[i])
        return saves

    def _remember(self, block_hash: bytes) -> None:
        self._known[block_hash] = None
        self._known.move_to_end(block_hash)
        if len(self._known) > KNOWN_BLOCKS:
            self._known.popitem(last=False)

    def reported(self, report: StepReport) -> None:
        """Takes what the workers said with a step's output."""
        self._workers.update(report.workers)
        for block_hash in report.dropped:
            self._known.pop(block_hash, None)

    def finished(self, request: "Request") -> None:
        """The request is over. A load that is under way goes on; the engine keeps its blocks until it has ended."""
        tracked = self._requests.pop(request.request_id, None)
        if tracked is not None:
            self._promises.forget(tracked.wish)

    def _close_lost(self, used: set[str]) -> None:
        for link in self._links.values():
            lost = link.lost()
            self.stats.add("manager_losses", len(lost))
            self._lost += lost
        for client in [c for c in self._lost if c.manager_epoch not in used]:
            self._lost.remove(client)
            client.close()


def _brought(request: "Request") -> bool:
    """Whether a router has told another connector, beside this one under MultiConnector, where its prefix is."""
    return bool((request.kv_transfer_params or {}).get("do_remote_prefill"))
