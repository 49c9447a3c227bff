"""What requests are promised of their prefixes, by real Managers and without a vLLM."""

from __future__ import annotations

import collections
import os
import shutil
import tempfile
import time
import unittest
from collections.abc import Sequence

import orbitkv
from orbitkv.vllm.lookup import MOST_LOOKUPS, Shard
from orbitkv.vllm.options import Options
from orbitkv.vllm.promises import LOCAL_LOOKUPS, MISS_SECONDS, WARY_TIMEOUT, Promises, Wish

from .support import DEADLINE, Manager, needs_manager, publish, until

SPACE = "promises"


class Figures:
    """Counts what it is told."""

    def __init__(self) -> None:
        self.of: collections.Counter[str] = collections.Counter()

    def add(self, name: str, value: float = 1) -> None:
        self.of[name] += value  # type: ignore[assignment]


def hashes(count: int) -> list[bytes]:
    return [os.urandom(32) for _ in range(count)]


def save(client: orbitkv.Client, names: Sequence[bytes]) -> None:
    publish(client, {orbitkv.BlockName(SPACE, h): os.urandom(4096) for h in names})


@needs_manager
class PromisesTest(unittest.TestCase):
    """One Manager, and a peer that can be frozen."""

    def setUp(self) -> None:
        registry = tempfile.mkdtemp(prefix="okvpy-", dir="/tmp")
        self.addCleanup(shutil.rmtree, registry, True)
        together = ("--membership", "local", "--registry-directory", registry)
        self.peer, self.manager = Manager(*together), Manager(*together)
        self.addCleanup(self.peer.end)
        self.addCleanup(self.manager.end)
        self.client = orbitkv.connect(self.manager.socket, instance="promises", role="scheduler", timeout=DEADLINE)
        self.addCleanup(self.client.close)
        self.far = orbitkv.connect(self.peer.socket, instance="far", role="worker", timeout=DEADLINE)
        self.addCleanup(self.far.close)
        until("they know each other", lambda: self.client.status()["peers"])
        self.figures = Figures()
        self.missed: list[bytes] = []

    def promises(self, timeout: float = DEADLINE, **options: bool) -> Promises:
        chosen = Options(self.manager.socket, lookup_timeout=timeout, **options)
        return Promises(chosen, self.figures, lambda: [Shard(0, self.client, SPACE)], self.missed.extend)

    def answer(self, promises: Promises, wish: Wish, wanted: list[bytes], start: int = 0) -> int:
        """As the engine does: asks in each step until there is an answer."""

        def ask() -> list[int]:
            promises.next_step()
            blocks = promises.of(wish, wanted, start, len(wanted), False)
            return [] if blocks is None else [blocks]

        (blocks,) = until("there is an answer", ask)
        return blocks

    def test_promise_is_what_lies_here_and_is_kept(self) -> None:
        near, far, nowhere = hashes(2), hashes(2), hashes(1)
        save(self.client, near)
        save(self.far, far)
        promises, wish = self.promises(), Wish()
        wanted = [*near, *far, *nowhere]
        self.assertEqual(4, self.answer(promises, wish, wanted))
        # The engine computed a block meanwhile, or found one in its own cache.
        self.assertEqual(3, promises.of(wish, wanted, 1, len(wanted), False))
        self.assertEqual(1, self.figures.of["lookups"])
        lookup = promises.redeem(wish)
        assert lookup is not None
        self.assertEqual(4, lookup.blocks)
        self.assertIsNone(promises.redeem(wish))
        lookup.cancel()
        until("nothing is held", lambda: self.client.status()["pool"]["holds"] == 0)

    # Guard: forget cancels. Without it a request that was aborted holds its blocks.
    def test_what_is_given_up_is_held_no_more(self) -> None:
        near = hashes(2)
        save(self.client, near)
        promises, wish = self.promises(), Wish()
        self.assertEqual(2, self.answer(promises, wish, near))
        self.assertEqual(2, self.client.status()["pool"]["holds"])
        promises.forget(wish)
        until("nothing is held", lambda: self.client.status()["pool"]["holds"] == 0)

    # Guard: missed_at. Without it a request that waits for room asks in each step.
    def test_miss_is_told_and_not_asked_for_again_at_once(self) -> None:
        promises, wish, nowhere = self.promises(), Wish(), hashes(2)
        self.assertEqual(0, self.answer(promises, wish, nowhere))
        self.assertEqual(nowhere, self.missed)
        self.assertEqual(0, promises.of(wish, nowhere, 0, len(nowhere), False))
        self.assertEqual(1, self.figures.of["lookups"])
        save(self.client, nowhere)
        time.sleep(MISS_SECONDS)  # what is tested is that this time has passed
        self.assertEqual(2, self.answer(promises, wish, nowhere))

    def busy(self, promises: Promises) -> None:
        """As many requests as may wait for a peer that does not answer."""
        self.peer.stop()
        self.addCleanup(self.peer.resume)
        for _ in range(MOST_LOOKUPS):
            wish = Wish()
            self.assertIsNone(promises.of(wish, hashes(1), 0, 1, False))
            self.addCleanup(promises.forget, wish)

    def stall(self, promises: Promises) -> None:
        """Until a lookup was still open when its time was up: nobody must have looked away meanwhile."""

        def stalled() -> bool:
            wish = Wish()
            promises.of(wish, hashes(1), 0, 1, False)
            asked = wish.lookup
            if asked is None:
                return False
            until("it is answered", lambda: promises.of(wish, hashes(1), 0, 1, False) is not None)
            promises.forget(wish)
            return asked.stalled

        until("a lookup is stalled", stalled)

    # Guard: wish.here in _without_turn. Without it what lies here waits for a peer that sends to others.
    def test_what_lies_here_waits_for_nobody(self) -> None:
        near, far = hashes(2), hashes(1)
        save(self.client, near)
        promises = self.promises()
        self.busy(promises)
        waiting, wish = Wish(), Wish()
        self.assertIsNone(promises.of(waiting, far, 0, len(far), False))
        self.assertEqual(2, self.answer(promises, wish, near))
        promises.forget(wish)

    # Guard: `here.blocks == here.wanted`. Without it a prefix that only begins here is cut, and its rest computed.
    def test_what_only_begins_here_waits_for_its_turn(self) -> None:
        near = hashes(1)
        save(self.client, near)
        promises = self.promises()
        self.busy(promises)
        asked = self.figures.of["local_lookups"]
        wish, wanted = Wish(), [*near, *hashes(1)]

        def asked_in_vain() -> bool:
            promises.next_step()
            self.assertIsNone(promises.of(wish, wanted, 0, len(wanted), False))
            return wish.here is None

        until("it knows that this is not all", asked_in_vain)
        # Guard: asked_here. Without it each request that waits asks in each step.
        asked_in_vain()
        self.assertEqual(asked + 1, self.figures.of["local_lookups"])
        until("nothing is held", lambda: self.client.status()["pool"]["holds"] == 0)

    # Guard: _wary and _stalled. Without them each request behind a frozen peer waits for the whole time.
    def test_frozen_peer_delays_the_first_request_only(self) -> None:
        near = hashes(1)
        save(self.client, near)
        promises = self.promises(0.5)
        self.peer.stop()
        self.addCleanup(self.peer.resume)
        self.stall(promises)
        self.busy(promises)
        # Its turn does not come, and those ahead of it are not answered; what begins here is of use then.
        self.assertEqual(0, self.answer(promises, Wish(), hashes(1)))
        self.assertEqual(1, self.figures.of["skipped_lookups"])
        wish = Wish()
        self.assertEqual(1, self.answer(promises, wish, [*near, *hashes(1)]))
        promises.forget(wish)

    # Guard: pass_over in _without_turn. Without it all but the first of a step are computed, though all lies here.
    def test_nothing_that_lies_here_is_computed_behind_a_frozen_peer(self) -> None:
        near = hashes(1)
        save(self.client, near)
        promises = self.promises(0.5)
        self.peer.stop()
        self.addCleanup(self.peer.resume)
        self.stall(promises)
        self.busy(promises)
        promises.next_step()
        wishes = [Wish() for _ in range(LOCAL_LOOKUPS + 2)]
        self.assertNotIn(0, [promises.of(wish, near, 0, 1, False) for wish in wishes])
        for wish in wishes:
            self.assertEqual(1, self.answer(promises, wish, near))
            promises.forget(wish)

    # Guard: _judge_probe. Without it a peer that is back is waited for 50 ms at most for ever.
    def test_peer_that_is_back_is_waited_for_again(self) -> None:
        promises = self.promises(0.5)
        self.peer.stop()
        self.addCleanup(self.peer.resume)
        wanted = hashes(1)
        self.assertEqual(0, self.answer(promises, Wish(), wanted))
        wish = Wish()
        promises.of(wish, hashes(1), 0, 1, False)
        assert wish.lookup is not None
        self.assertEqual(WARY_TIMEOUT, wish.lookup.timeout)
        promises.forget(wish)
        self.peer.resume()
        save(self.far, wanted)

        def waits() -> bool:
            promises.next_step()
            wish = Wish()
            promises.of(wish, hashes(1), 0, 1, False)
            asked = wish.lookup
            promises.forget(wish)
            return asked is not None and asked.timeout == 0.5

        until("lookups have their whole time again", waits)

    # Guard: _asks_again. Without it the prefix ends where the first time ended.
    def test_full_prefix_is_waited_for_if_told_so(self) -> None:
        near = hashes(1)
        save(self.client, near)
        self.peer.stop()
        self.addCleanup(self.peer.resume)
        promises = self.promises(0.2, wait_for_full_prefix=True)

        def asked_twice() -> bool:
            before, wish = self.figures.of["lookups"], Wish()
            blocks = self.answer(promises, wish, [*near, *hashes(1)])
            promises.forget(wish)
            # A Manager that is slow to say what it has is given up on.
            return blocks == 1 and self.figures.of["lookups"] == before + 2

        until("it asks once more, since the first time brought a block", asked_twice)


if __name__ == "__main__":
    unittest.main()
