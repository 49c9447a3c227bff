"""One request's prefix, looked up in the Managers of all ranks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orbitkv import Client, DeadlineExceeded, Fault, OrbitKVError, wire

GRACE_SECONDS = 0.03
"""A Manager answers at the deadline; one that is frozen does not."""
BUSY_SECONDS, NAP_SECONDS = 0.0005, 0.0002
MOST_LOOKUPS = 8
"""Of one engine unanswered at once: they keep a link busy. A Manager refuses a session's 129th."""
REFUSED_SECONDS = 0.01


@dataclass(frozen=True)
class Shard:
    """Where one rank's blocks are: asked in the name of that rank."""

    rank: int
    client: Client
    namespace: str


class Turns:
    """Whose turn it is to look something up: a burst of requests asks in order, few at a time, and is not refused.

    Used by the scheduler's thread only.
    """

    def __init__(self, timeout: float, most: int = MOST_LOOKUPS) -> None:
        """``timeout``: seconds after which a lookup holds no turn any more: its request is not looked at, perhaps."""
        self._timeout = timeout + GRACE_SECONDS
        self._most = most
        self._out: dict[object, float] = {}
        self._passed_over = 0
        self._not_before = 0.0

    @property
    def out(self) -> int:
        """Lookups that are not answered yet, as far as is known."""
        return len(self._out)

    @property
    def free(self) -> bool:
        """Whether the request that is looked at may ask: not before those that were passed over in this step."""
        return len(self._out) + self._passed_over < self._most and not self.paused

    @property
    def paused(self) -> bool:
        """Whether a Manager refused a question a moment ago."""
        return time.monotonic() < self._not_before

    def take(self, lookup: object) -> None:
        """It was asked."""
        self._out[lookup] = time.monotonic()

    def end(self, lookup: object) -> None:
        """It was answered or given up; again does nothing."""
        self._out.pop(lookup, None)

    def pass_over(self) -> None:
        """A request waits for its turn in this step."""
        self._passed_over += 1

    def refused(self) -> None:
        """A Manager has no room for a question: none is asked for a moment."""
        self._not_before = time.monotonic() + REFUSED_SECONDS

    def next_step(self) -> None:
        """All requests are looked at anew."""
        self._passed_over = 0
        since = time.monotonic() - self._timeout
        self._out = {lookup: asked for lookup, asked in self._out.items() if asked > since}


class Probe:
    """Asks for the blocks of a lookup that was answered by a clock, with time: is it still so?

    What it finds is in the local Manager then, for who asks next. Never blocks.
    """

    def __init__(self, shards: Sequence[Shard], hashes: Sequence[bytes], timeout: float, soon: float) -> None:
        """``soon``: an answer that brought nothing says that lookups are answered only if it is seen so soon."""
        self._began = time.monotonic()
        self._timeout = timeout
        self._soon = soon
        self._calls: list[tuple[Client, Any]] = []
        for shard in shards:
            names = [(shard.namespace, block_hash) for block_hash in hashes]
            try:
                call = shard.client.submit_warm_up(names, stop_at_first_miss=True, timeout=timeout, room_timeout=0)
            except OrbitKVError:
                continue
            self._calls.append((shard.client, call))

    def poll(self) -> bool | None:
        """True: all Managers have answered, not by a clock; False: one has not, as it seems; None: not known yet."""
        brought = bool(self._calls)
        for client, call in self._calls:
            client.pump()
            if not call.done:
                late = time.monotonic() > self._began + self._timeout + GRACE_SECONDS
                return False if late else None
            if call.fault is not None:
                return False
            entries = wire.decode_blocks(call.result().descriptor)
            brought = brought and any(entry.fetched for entry in entries)
        # Its Manager gave up on the peer, perhaps: when, nobody has seen.
        return brought or (bool(self._calls) and time.monotonic() < self._began + 0.95 * self._soon)


class Lookup:
    """Promises of one prefix, one a rank. Never blocks. Used by the scheduler's thread only."""

    def __init__(
        self, shards: Sequence[Shard], hashes: Sequence[bytes], start: int, timeout: float, fetch: bool = True
    ) -> None:
        """``fetch``: blocks that are not here are fetched from peers first."""
        self.start = start
        self.wanted = len(hashes)
        self.began = time.monotonic()
        self.timeout = timeout
        """Seconds that it waits, at most; but for a moment more of a Manager that does not answer at all."""
        self._calls: dict[int, tuple[Shard, Any]] = {}
        self._plans: dict[int, tuple[Shard, Any]] = {}
        self._answered: float | None = None
        self._late = False
        self.refused = False
        """Whether a Manager had no room for the question."""
        try:
            for shard in shards:
                names = [(shard.namespace, block_hash) for block_hash in hashes]
                call = shard.client.submit_promise(
                    names, fetch=fetch, stop_at_first_miss=True, timeout=timeout, redeemers=1, room_timeout=0
                )
                self._calls[shard.rank] = (shard, call)
        except OrbitKVError as e:
            self._note(e)
            self.cancel()

    @property
    def answered(self) -> bool:
        """Whether it was, as of the last :meth:`poll`; it stays so."""
        return self._answered is not None

    def poll(self) -> bool:
        """Whether it has been answered, by the Managers or by the clock."""
        if self._answered is not None:
            return True
        now = time.monotonic()
        for rank, (shard, call) in list(self._calls.items()):
            shard.client.pump()
            if not call.done:
                continue
            del self._calls[rank]
            try:
                plan = shard.client.plan(call)
            except OrbitKVError as e:
                self._note(e)
                plan = None
            if plan is None:
                # What one rank lacks is of no use to the others.
                self.cancel()
                break
            self._plans[rank] = (shard, plan)
        if self._calls:
            self._late = now >= self.began + 0.95 * self.timeout
        if self._calls and now > self.began + self.timeout + GRACE_SECONDS:
            self.cancel()
        if self._calls:
            return False
        self._answered = now
        return True

    def _note(self, fault: OrbitKVError) -> None:
        self.refused |= fault.fault == Fault.EXHAUSTED or isinstance(fault, DeadlineExceeded)

    def spin(self, seconds: float) -> bool:
        """Polls for that long: what lies here is answered within some microseconds, and Managers want the processor."""
        began = time.monotonic()
        while not self.poll():
            spent = time.monotonic() - began
            if spent > seconds:
                return False
            if spent > BUSY_SECONDS:
                time.sleep(NAP_SECONDS)
        return True

    @property
    def seconds(self) -> float:
        """From the question to the answer; 0 without one yet."""
        return 0.0 if self._answered is None else self._answered - self.began

    @property
    def timed_out(self) -> bool:
        """Whether a clock answered it, the Manager's or this one; also if the answer was only seen so late."""
        return self._answered is not None and self._answered >= self.began + 0.95 * self.timeout

    @property
    def stalled(self) -> bool:
        """Whether that is certain, and nothing came: it was still open when its time was up."""
        return self._answered is not None and self._late and self.blocks == 0

    @property
    def blocks(self) -> int:
        """How many blocks, from the first on, every rank has a promise of."""
        return min((len(plan.blocks) for _, plan in self._plans.values()), default=0)

    @property
    def epochs(self) -> set[str]:
        """The Managers whose promises it holds."""
        return {shard.client.manager_epoch for shard, _ in self._plans.values()}

    def plans(self, first: int) -> dict[int, tuple[str, int, int, int]]:
        """By rank, what a worker redeems; ``first`` counts from :attr:`start`."""
        return {
            rank: (shard.client.manager_epoch, plan.record, plan.generation, first)
            for rank, (shard, plan) in self._plans.items()
        }

    def cancel(self) -> None:
        """Gives up what is promised, and what will be."""
        for shard, call in self._calls.values():
            shard.client.abandon_promise(call)
        for _, plan in self._plans.values():
            plan.cancel()
        self._calls.clear()
        self._plans.clear()
