"""The scheduler's side: promises only what lies, pinned, in the local Manager's memory."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orbitkv import Client

from .keys import Adapters, BlockHashes, engine_instance
from .link import ManagerLink
from .lookup import Lookup, Probe, Shard, Turns
from .metadata import Load, Save, StepMetadata, StepReport, WorkerState
from .options import Options
from .placement import check_groups
from .stats import OrbitKVStats

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.core.kv_cache_manager import KVCacheBlocks
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.request import Request

logger = logging.getLogger("vllm.orbitkv")

KNOWN_BLOCKS = 1 << 20
SPIN_SECONDS = 0.0005
"""What is local is answered sooner, and saves the request a step."""
ALONE_SECONDS = 0.003
"""The same of a request that the engine has nothing beside: whoever comes then waits so long at most."""
SPINNING_LOOKUPS = 4
"""With more of them out nobody spins: they come from peers, and a step would wait for each of a burst."""
MISS_SECONDS = 1.0
"""For so long a miss is not asked for again, while the request waits for room."""
WARY_TIMEOUT = 0.05
"""After an answer that did not come in time requests wait so long only, until a probe is answered in time."""
PROBE_TIMEOUT = 5.0


class Tracked:
    """A request that the engine knows."""

    __slots__ = ("request", "hashes", "named", "lookup", "refused_at", "missed_at", "progress", "saved")

    def __init__(self, request: "Request", hashes: BlockHashes, named: bool) -> None:
        self.request = request
        self.hashes = hashes
        self.named = named and not request.resumable
        """Whether its blocks have names: nothing that is unknown changes their bytes."""
        self.lookup: Lookup | None = None
        self.refused_at: float | None = None
        self.missed_at = -MISS_SECONDS
        self.progress = 0
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
        self._wary = False
        self._stalled = False
        """Whether the last lookup that ended was ended by a clock, with nothing."""
        self._probe: Probe | None = None
        self._turns = Turns(options.lookup_timeout)
        self.stats = OrbitKVStats()
        for socket in self._sockets.values():
            if socket not in self._links:
                self._links[socket] = ManagerLink(socket, self._instance, "scheduler")
                self._links[socket].start(options.require_manager)

    def close(self) -> None:
        """Gives up every promise and ends the sessions."""
        for tracked in self._requests.values():
            self._forget(tracked)
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
        lookup = tracked.lookup
        if lookup is not None and (end <= start or lookup.start > start):
            self._forget(tracked)
            lookup = None
        if end <= start:
            return 0, False
        spin = 0.0
        if lookup is None and self._workers_unknown():
            return None, False
        if lookup is None:
            if time.monotonic() - tracked.missed_at < MISS_SECONDS:
                return 0, False
            shards = self._shards()
            if not shards:
                return 0, False
            if not self._turns.free:
                return self._without_turn(tracked)
            lookup = self._ask(shards, hashes[start:end], start)
            tracked.lookup = lookup
            self._turns.take(lookup)
            spin = SPIN_SECONDS if self._turns.out <= SPINNING_LOOKUPS else 0.0
        # An answer is judged once; the promise is kept while the request waits for room.
        if not lookup.answered:
            if len(self._requests) == 1:
                spin = ALONE_SECONDS
            if not lookup.spin(spin):
                return None, False
            self._turns.end(lookup)
            if lookup.refused and self._is_worth_waiting(tracked):
                self._forget(tracked)
                self._turns.refused()
                return self._without_turn(tracked)
            if self._asks_again(tracked, lookup, hashes):
                return None, False
        blocks = lookup.start + lookup.blocks - start
        if blocks <= 0:
            self._missed(tracked, hashes[start:end])
            return 0, False
        return blocks * self._block_tokens, True

    def _without_turn(self, tracked: Tracked) -> tuple[int | None, bool]:
        """A request asks later, unless those ahead of it are not answered."""
        if self._stalled:
            self.stats.add("skipped_lookups")
            tracked.missed_at = time.monotonic()
            return 0, False
        self._turns.pass_over()
        return None, False

    def _is_worth_waiting(self, tracked: Tracked) -> bool:
        """Whether a refused request asks once more: others make room, and it was not refused for long."""
        now = time.monotonic()
        if tracked.refused_at is None:
            tracked.refused_at = now
        return self._turns.out > 0 and now < tracked.refused_at + self._options.lookup_timeout

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

    def _ask(self, shards: list[Shard], hashes: list[bytes], start: int) -> Lookup:
        self._poll_probe(shards, hashes)
        timeout = min(WARY_TIMEOUT, self._options.lookup_timeout) if self._wary else self._options.lookup_timeout
        self.stats.add("lookups")
        return Lookup(shards, hashes, start, timeout)

    def _poll_probe(self, shards: list[Shard], hashes: list[bytes]) -> None:
        """While lookups are answered by clocks, one question with time is always out."""
        self._judge_probe()
        if self._wary and self._probe is None:
            self._probe = self._new_probe(shards, hashes)

    def _new_probe(self, shards: list[Shard], hashes: list[bytes]) -> Probe:
        return Probe(shards, hashes, PROBE_TIMEOUT, self._options.lookup_timeout)

    def _judge_probe(self) -> None:
        if self._probe is None:
            return
        seen = self._probe.poll()
        if seen is not None:
            self._probe = None
        if seen:
            self._wary = self._stalled = False
            logger.info("OrbitKV: lookups are answered in time again")

    def _asks_again(self, tracked: Tracked, lookup: Lookup, hashes: list[bytes]) -> bool:
        """Judges an answer, once; whether the rest of its prefix is asked for once more."""
        self.stats.add("lookup_seconds", lookup.seconds)
        self._stalled = lookup.stalled
        if lookup.blocks == lookup.wanted or not lookup.timed_out:
            return False
        wanted = hashes[lookup.start : lookup.start + lookup.wanted]
        if self._options.wait_for_full_prefix and lookup.blocks > tracked.progress:
            shards = self._shards()
            if shards:
                tracked.progress = lookup.blocks
                lookup.cancel()
                tracked.lookup = self._ask(shards, wanted, lookup.start)
                self._turns.take(tracked.lookup)
                return True
        self.stats.add("lookup_timeouts")
        if lookup.blocks == 0 and not self._wary:
            self._wary = True
            self._probe = self._new_probe(self._shards(), wanted)
            logger.warning(
                "OrbitKV: a lookup of %d blocks brought none in %.2f s: a Manager is slow, frozen or lost; lookups "
                "wait %.2f s until one is answered in time",
                lookup.wanted,
                time.monotonic() - lookup.began,
                WARY_TIMEOUT,
            )
        return False

    def _missed(self, tracked: Tracked, hashes: list[bytes]) -> None:
        self.stats.add("missed_blocks", len(hashes))
        for block_hash in hashes:
            self._known.pop(block_hash, None)
        self._forget(tracked)
        tracked.missed_at = time.monotonic()

    def _forget(self, tracked: Tracked) -> None:
        tracked.progress = 0
        if tracked.lookup is not None:
            tracked.lookup.cancel()
            self._turns.end(tracked.lookup)
            tracked.lookup = None

    def allocated(self, request: "Request", blocks: "KVCacheBlocks", external: int) -> None:
        """The engine has room: with ``external`` tokens the promise is redeemed in the coming step."""
        tracked = self.track(request)
        lookup = tracked.lookup
        if external == 0 or lookup is None:
            # Not taken up, or taken up before.
            self._forget(tracked)
            return
        tracked.lookup = None
        (ids,) = blocks.get_block_ids()
        count = external // self._block_tokens
        # The blocks behind those that the engine had itself.
        end = lookup.start + lookup.blocks
        first = end - count
        hashes = tracked.hashes.hashes
        self.stats.add("hit_blocks", count)
        missed = hashes[end : (request.num_tokens - 1) // self._block_tokens]
        self.stats.add("missed_blocks", len(missed))
        for block_hash in missed:
            self._known.pop(block_hash, None)
        for block_hash in hashes[first:end]:
            self._remember(block_hash)
        load = Load(request.request_id, lookup.plans(first - lookup.start), ids[first:end])
        self._loads[request.request_id] = (load, lookup)

    # ---- a step

    def step(self, output: "SchedulerOutput") -> StepMetadata:
        """What the workers do with the step that was just planned."""
        self._judge_probe()
        self._turns.next_step()
        epochs: set[str] = set()
        for tracked in self._requests.values():
            if tracked.lookup is not None:
                epochs |= tracked.lookup.epochs
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
            self._forget(tracked)

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
