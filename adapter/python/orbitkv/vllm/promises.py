"""What requests are promised of their prefixes: who asks when, how long it waits, and what an answer means."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from .lookup import Lookup, Probe, Shard, Turns
from .options import Options

logger = logging.getLogger("vllm.orbitkv")

SPIN_SECONDS = 0.0005
"""What is local is answered sooner, and saves the request a step."""
ALONE_SECONDS = 0.003
"""The same of a request that the engine has nothing beside: whoever comes then waits so long at most."""
SPINNING_LOOKUPS = 4
"""With more of them out nobody spins: they come from peers, and a step would wait for each of a burst."""
LOCAL_LOOKUPS = 8
"""Begun in one step, of requests whose turn it is not: each is waited for, if only for a moment."""
MISS_SECONDS = 1.0
"""For so long a miss is not asked for again, while the request waits for room."""
WARY_TIMEOUT = 0.05
"""After an answer that did not come in time requests wait so long only, until a probe is answered in time."""
PROBE_TIMEOUT = 5.0


class Counters(Protocol):
    """Where the figures go."""

    def add(self, name: str, value: float = 1) -> None: ...


class Wish:
    """What one request has asked for, and been promised. Belongs to :class:`Promises`, but for reading."""

    __slots__ = ("lookup", "here", "asked_here", "refused_at", "missed_at", "progress")

    def __init__(self) -> None:
        self.lookup: Lookup | None = None
        self.here: Lookup | None = None
        """The question for what is local, before its turn."""
        self.asked_here = False
        """Whether that was put since the request last had a promise, or gave one up."""
        self.refused_at: float | None = None
        self.missed_at = -MISS_SECONDS
        self.progress = 0


class Promises:
    """One an engine. Used by the scheduler's thread only; nothing waits longer than some ms."""

    def __init__(
        self,
        options: Options,
        counters: Counters,
        shards: Callable[[], list[Shard]],
        missed: Callable[[Sequence[bytes]], None],
    ) -> None:
        """
        :param shards: whom to ask now; nobody unless every worker can redeem what is promised
        :param missed: told of blocks that are not there
        """
        self._options = options
        self._counters = counters
        self._shards = shards
        self._missed = missed
        self._wary = False
        self._stalled = False
        """Whether the last lookup that ended was ended by a clock, with nothing."""
        self._probe: Probe | None = None
        self._wary_timeout = min(WARY_TIMEOUT, options.lookup_timeout)
        self._turns = Turns(options.lookup_timeout)
        self._asked_here = 0

    def of(self, wish: Wish, hashes: list[bytes], start: int, end: int, alone: bool) -> int | None:
        """How many of ``hashes[start:end]``, from the first on, are promised; None: ask again.

        :param hashes: the request's; what was promised before stays good
        :param alone: nobody else waits for the engine
        """
        if any(asked is not None and asked.start > start for asked in (wish.lookup, wish.here)):
            self.forget(wish)
        spin = 0.0
        if wish.lookup is None:
            shards = [] if time.monotonic() - wish.missed_at < MISS_SECONDS else self._shards()
            if not shards:
                self._forget_here(wish)
                return 0
            if not self._turns.free:
                return self._without_turn(wish, shards, hashes, start, end)
            self._forget_here(wish)
            wish.lookup = self._ask(shards, hashes[start:end], start)
            self._turns.take(wish.lookup)
            spin = SPIN_SECONDS if self._turns.out <= SPINNING_LOOKUPS else 0.0
        lookup = wish.lookup
        # An answer is judged once; the promise is kept while the request waits for room.
        if not lookup.answered:
            if not lookup.spin(ALONE_SECONDS if alone else spin):
                return None
            self._turns.end(lookup)
            if lookup.refused and self._is_worth_waiting(wish):
                self.forget(wish)
                self._turns.refused()
                return self._wait(wish)
            if self._asks_again(wish, lookup, hashes):
                return None
        blocks = lookup.start + lookup.blocks - start
        if blocks <= 0:
            self._missed(hashes[start:end])
            self.forget(wish)
            wish.missed_at = time.monotonic()
            return 0
        return blocks

    def forget(self, wish: Wish) -> None:
        """Gives up what a request was promised, and what it asked for."""
        wish.progress = 0
        wish.asked_here = False
        self._forget_here(wish)
        if wish.lookup is not None:
            wish.lookup.cancel()
            self._turns.end(wish.lookup)
            wish.lookup = None

    def redeem(self, wish: Wish) -> Lookup | None:
        """The request's promise, which is the caller's from now on; None without one."""
        lookup, wish.lookup = wish.lookup, None
        # It may be preempted, and look for what it has saved here itself.
        wish.asked_here = False
        return lookup

    def next_step(self) -> None:
        """All requests are looked at anew."""
        self._judge_probe()
        self._turns.next_step()
        self._asked_here = 0

    def _without_turn(
        self, wish: Wish, shards: list[Shard], hashes: list[bytes], start: int, end: int
    ) -> int | None:
        """It asks later; what lies here is promised at once, for nobody has to send it."""
        if not wish.asked_here:
            if self._turns.paused or self._asked_here >= LOCAL_LOOKUPS:
                self._turns.pass_over()
                return None
            self._asked_here += 1
            wish.asked_here = True
            self._counters.add("local_lookups")
            wish.here = Lookup(shards, hashes[start:end], start, self._wary_timeout, fetch=False)
            if not wish.here.spin(SPIN_SECONDS):
                # The Manager is slow: the step waits for no other answer.
                self._asked_here = LOCAL_LOOKUPS
        here = wish.here
        if here is None:
            return self._wait(wish)
        if not here.poll():
            self._turns.pass_over()
            return None
        # Of a prefix that only begins here the rest may come from a peer, unless no peer answers.
        blocks = here.start + here.blocks - start
        if here.blocks == here.wanted or (self._stalled and blocks > 0):
            wish.lookup, wish.here = here, None
            return blocks
        self._forget_here(wish)
        return self._wait(wish)

    def _wait(self, wish: Wish) -> int | None:
        """A request asks later, unless those ahead of it are not answered."""
        if self._stalled:
            self._counters.add("skipped_lookups")
            wish.missed_at = time.monotonic()
            return 0
        self._turns.pass_over()
        return None

    @staticmethod
    def _forget_here(wish: Wish) -> None:
        if wish.here is not None:
            wish.here.cancel()
            wish.here = None

    def _is_worth_waiting(self, wish: Wish) -> bool:
        """Whether a refused request asks once more: others make room, and it was not refused for long."""
        now = time.monotonic()
        if wish.refused_at is None:
            wish.refused_at = now
        return self._turns.out > 0 and now < wish.refused_at + self._options.lookup_timeout

    def _ask(self, shards: list[Shard], hashes: list[bytes], start: int) -> Lookup:
        self._judge_probe()
        # While lookups are answered by clocks, one question with time is always out.
        if self._wary and self._probe is None:
            self._probe = self._new_probe(shards, hashes)
        timeout = self._wary_timeout if self._wary else self._options.lookup_timeout
        self._counters.add("lookups")
        return Lookup(shards, hashes, start, timeout)

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

    def _asks_again(self, wish: Wish, lookup: Lookup, hashes: list[bytes]) -> bool:
        """Judges an answer, once; whether the rest of its prefix is asked for once more."""
        self._counters.add("lookup_seconds", lookup.seconds)
        self._stalled = lookup.stalled
        if lookup.blocks == lookup.wanted or not lookup.timed_out:
            return False
        wanted = hashes[lookup.start : lookup.start + lookup.wanted]
        if self._options.wait_for_full_prefix and lookup.blocks > wish.progress:
            shards = self._shards()
            if shards:
                wish.progress = lookup.blocks
                lookup.cancel()
                wish.lookup = self._ask(shards, wanted, lookup.start)
                self._turns.take(wish.lookup)
                return True
        self._counters.add("lookup_timeouts")
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
