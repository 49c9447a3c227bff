"""Plans: the words of a claim, in the order of docs/protocol/restore-record.md, and plans of a real Manager."""

from __future__ import annotations

import ctypes
import gc
import os
import unittest
from typing import Callable

import orbitkv
from orbitkv import wire
from orbitkv.wire import Opcode

from .fake import ARENA_BYTES, FakeManager
from .support import DEADLINE, Manager, finished, name, needs_manager, program, publish, until

ACTIVE, PART_DRAINED, DRAINED, FAILED = 1, 2, 3, 4


class ClaimTest(unittest.TestCase):
    def setUp(self) -> None:
        self.taken: list[tuple[int, int, int]] = []

        def script(fake: FakeManager) -> None:
            fake.greet()
            while True:
                taken = fake.take()
                self.taken.append((taken.opcode, taken.scalar0, taken.scalar1))
                self.answer(fake, taken)

        self.answer: Callable[..., None] = lambda fake, taken: None
        self.fake = FakeManager(script, plans=True)
        self.addCleanup(self.fake.__exit__)
        self.fake.arena[:] = os.urandom(ARENA_BYTES)
        self.client = orbitkv.connect(self.fake.path, timeout=DEADLINE)
        self.addCleanup(self.client._session.end, "test")

    def ended(self, record: int, generation: int) -> None:
        until("RESTORE_ENDED is told", lambda: (Opcode.RESTORE_ENDED, record, generation) in self.taken)

    # Guard: Claim.end writing the word, and only behind the last copy.
    def test_words_say_active_while_copying_and_drained_behind_it(self) -> None:
        self.fake.grant(3, 9, [(4, 0, 8192, 5000), (0, 0, 0, 100)])
        with self.client.claim(3, 9) as claim:
            self.assertEqual(self.fake.engine_word(3), (9, ACTIVE))
            self.assertEqual([(block.index, block.bytes) for block in claim.blocks], [(4, 5000), (0, 100)])
            page = bytearray(5000)
            self.assertEqual(claim.copy_into(0, page), 5000)
            self.assertEqual(page, self.fake.arena[8192:13192])
            claim.part_ended()
            self.assertEqual(self.fake.engine_word(3), (9, PART_DRAINED))
            claim.part_ended()
            self.assertFalse(claim.ended)
        self.assertTrue(claim.ended)
        self.assertEqual(self.fake.engine_word(3), (9, DRAINED))
        self.ended(3, 9)
        with self.assertRaises(orbitkv.LeaseEnded):
            claim.copy_into(0, page)
        claim.end(False)
        self.assertEqual(self.fake.engine_word(3), (9, DRAINED))

    def test_copies_into_segments(self) -> None:
        self.fake.grant(0, 5, [(0, 0, 4096, 10_000)])
        parts = [ctypes.create_string_buffer(size) for size in (1, 4095, 5000, 904)]
        segments = [(ctypes.addressof(part), len(part)) for part in parts]
        with self.client.claim(0, 5) as claim:
            # Guard: the sum in Claim.copy_segments, before the first byte.
            for wrong in (segments[:3], [*segments, segments[0]], [(0, 10_000)], [(-8, 10_000)], []):
                with self.assertRaises(ValueError):
                    claim.copy_segments(0, wrong)
            self.assertEqual(b"".join(part.raw for part in parts), bytes(10_000))
            self.assertEqual(claim.copy_segments(0, segments), 10_000)
        self.assertEqual(b"".join(part.raw for part in parts), self.fake.arena[4096:14_096])

    def test_exception_says_failed(self) -> None:
        self.fake.grant(1, 6, [(0, 0, 0, 64)])
        with self.assertRaises(ZeroDivisionError), self.client.claim(1, 6):
            raise ZeroDivisionError
        self.assertEqual(self.fake.engine_word(1), (6, FAILED))
        self.ended(1, 6)

    # Guard: the second look at the Manager's word in Claims.claim.
    def test_revoked_between_the_looks_copies_nothing(self) -> None:
        self.fake.grant(2, 7, [(0, 0, 0, 64)])
        looks = []

        def fence() -> None:
            looks.append(self.fake.engine_word(2))
            self.fake.manager_word(2, 7, 0x12)

        from orbitkv import restore

        kept = restore.fence
        restore.fence = fence
        try:
            with self.assertRaises(orbitkv.LeaseEnded):
                self.client.claim(2, 7)
        finally:
            restore.fence = kept
        self.assertEqual(looks, [(7, ACTIVE)])  # ACTIVE was written before the second look
        self.assertEqual(self.fake.engine_word(2), (7, FAILED))
        self.ended(2, 7)

    # Guard: the first look; a word is not even written for what was never granted.
    def test_what_is_not_granted_is_not_claimed(self) -> None:
        self.fake.grant(4, 8, [(0, 0, 0, 64)])
        for state in (0x12, 0x13, 0, 0x77):
            self.fake.manager_word(4, 8, state)
            with self.assertRaises(orbitkv.LeaseEnded):
                self.client.claim(4, 8)
        self.fake.manager_word(4, 9, 0x11)
        with self.assertRaises(orbitkv.LeaseEnded):
            self.client.claim(4, 8)
        self.assertEqual(self.fake.engine_word(4), (0, 0))
        for record, generation in ((-1, 5), (1024, 5), (0, 0), (0, 1 << 56)):
            with self.assertRaises(ValueError):
                self.client.claim(record, generation)

    # Guard: the first generation of WELCOME in Claims._check.
    def test_plan_older_than_the_session_is_refused_by_itself(self) -> None:
        self.fake.grant(4, 4, [(0, 0, 0, 64)])
        with self.assertRaises(orbitkv.StaleEpoch):
            self.client.claim(4, 4)
        self.assertEqual(self.fake.engine_word(4), (0, 0))

    # Guard: Claims._in_turn.
    def test_record_is_claimed_once_in_a_generation_and_in_order(self) -> None:
        self.fake.grant(5, 10, [(0, 0, 0, 64)])
        claim = self.client.claim(5, 10)
        with self.assertRaises(orbitkv.OrbitKVError) as busy:
            self.client.claim(5, 10)
        self.assertIs(busy.exception.fault, orbitkv.Fault.IN_USE)
        claim.end()
        with self.assertRaises(orbitkv.StaleEpoch):
            self.client.claim(5, 10)
        self.fake.grant(5, 12, [(0, 0, 0, 64)])
        with self.client.claim(5, 12):
            pass
        self.fake.grant(5, 11, [(0, 0, 0, 64)])
        with self.assertRaises(orbitkv.StaleEpoch):
            self.client.claim(5, 11)
        self.assertEqual(self.fake.engine_word(5), (12, DRAINED))

    # Guard: Source's bounds on what a record says, and those of the bank in Claims._plan.
    def test_record_that_can_not_be_is_corrupt_and_ended(self) -> None:
        for number, block in enumerate(
            ((0, 1, 0, 64), (0, 0, ARENA_BYTES, 64), (0, 0, 0, ARENA_BYTES + 1), (0, 0, (1 << 64) - 8, 16), (0, 0, 0, 0))
        ):
            self.fake.grant(6, 20 + number, [block])
            with self.assertRaises(orbitkv.Corrupt):
                self.client.claim(6, 20 + number)
            self.assertEqual(self.fake.engine_word(6), (20 + number, FAILED))
        self.fake.grant(7, 5, [(0, 0, 0, 64)] * 2, first=100)
        at = 4096 + 7 * 192
        self.fake.plans[at + 16 : at + 24] = b"\xff\xff\xff\xff\2\0\0\0"  # far outside of the bank
        with self.assertRaises(orbitkv.Corrupt):
            self.client.claim(7, 5)

    # Guard: Claims.give_up.
    def test_plan_that_was_given_up_is_not_claimed(self) -> None:
        self.answer = lambda fake, taken: fake.answer(taken.opcode | 0x8000, taken.request_id, 1)
        self.fake.grant(8, 30, [(0, 0, 0, 64)])
        self.assertEqual(self.client.cancel_plan(8, 30), "won")
        with self.assertRaises(orbitkv.StaleEpoch):
            self.client.claim(8, 30)
        self.assertEqual(self.fake.engine_word(8), (0, 0))

    # Guard: Claims and their memory do not need the session.
    def test_dead_manager_and_what_is_granted_can_be_claimed(self) -> None:
        self.fake.grant(9, 31, [(0, 0, 64, 64)])
        self.fake.grant(10, 32, [(0, 0, 64, 64)], first=1)
        self.fake.grant(11, 33, [(0, 0, 64, 64)], first=2)
        early = self.client.claim(11, 33)
        self.fake.__exit__()
        with self.assertRaises(orbitkv.ManagerLost):
            self.client.ping()
        page = bytearray(64)
        with self.client.claim(9, 31) as claim:
            claim.copy_into(0, page)
        self.assertEqual(page, self.fake.arena[64:128])
        # Not won: what the other sessions do, this one can not know.
        self.assertEqual(self.client.cancel_plan(10, 32), "given up")
        with self.assertRaises(orbitkv.StaleEpoch):
            self.client.claim(10, 32)
        self.assertEqual(self.client.cancel_plan(11, 33), "active")
        # Guard: the uses of Arena. Without them closing the client unmaps what is copied from.
        self.client.close()
        early.copy_into(0, page)
        early.end()
        self.assertEqual(self.fake.engine_word(11), (33, DRAINED))
        with self.assertRaises(orbitkv.Closed):
            self.client.claim(12, 40)

    def test_dropped_claim_says_failed(self) -> None:
        self.fake.grant(12, 34, [(0, 0, 0, 64)])
        with self.assertWarns(ResourceWarning):
            claim = self.client.claim(12, 34)
            del claim
            gc.collect()
        self.assertEqual(self.fake.engine_word(12), (34, FAILED))

    def test_promise_and_its_late_answer(self) -> None:
        blocks = wire.encode_blocks([wire.BlockEntry(1, 1, 0, 0, 64, 77)])
        self.answer = lambda fake, taken: fake.answer(Opcode.PLAN, taken.request_id, 13, 35, blocks)
        call = self.client.submit_promise([("n", b"1"), ("n", b"2")], fetch=True, redeemers=2)
        until("it is answered", lambda: self.client.pump() or call.done)
        plan = self.client.plan(call)
        assert plan is not None
        self.assertEqual((plan.record, plan.generation, plan.blocks, plan.bytes), (13, 35, (orbitkv.PlanBlock(1, 64),), 64))
        self.assertEqual(self.taken[0][0], Opcode.QUERY)
        self.assertEqual(self.taken[0][2], 1 | 4 | 2 << 8)
        self.answer = lambda fake, taken: None
        plan.cancel()
        until("it is cancelled", lambda: (Opcode.CANCEL_PLAN, 13, 35) in self.taken)
        # Guard: Client._cancel_late. Without it the Manager keeps a plan that nobody knows.
        requests: list[int] = []
        self.answer = lambda fake, taken: requests.append(taken.request_id)
        late = self.client.submit_promise([("n", b"1")])
        until("it is asked for", lambda: requests)
        self.client.abandon_promise(late)
        until("its cancel is asked for", lambda: any(opcode == Opcode.CANCEL for opcode, _, _ in self.taken))
        self.fake.answer(Opcode.PLAN, requests[0], 14, 36, blocks)
        until("it is cancelled", lambda: self.client.pump() or (Opcode.CANCEL_PLAN, 14, 36) in self.taken)

    # Guard: Lease.begin_restore and .end_restore.
    def test_restore_uses_a_lease_up_and_a_refusal_does_not(self) -> None:
        found = wire.encode_blocks([wire.BlockEntry(0, 1, 0, 0, 64, 77)])
        self.answer = lambda fake, taken: fake.answer(Opcode.QUERY_ANSWER, taken.request_id, 3, 10**12, found)
        lease = self.client.query([("n", b"1")])
        self.answer = lambda fake, taken: fake.answer(Opcode.REFUSAL, taken.request_id, 5, 0, b"no record")
        with self.assertRaises(orbitkv.Refused):
            self.client.restore(lease)
        page = bytearray(64)
        lease.copy_into(0, page)
        self.answer = lambda fake, taken: fake.answer(Opcode.PLAN, taken.request_id, 15, 37, found)
        plan = self.client.restore(lease, [0])
        self.assertEqual((plan.record, plan.generation), (15, 37))
        with self.assertRaises(orbitkv.LeaseEnded):
            lease.copy_into(0, page)
        lease.close()
        operations = [operation for opcode, _, operation in self.taken if opcode == Opcode.RESTORE]
        self.assertEqual(operations, [1, 2])
        self.assertNotIn((Opcode.RELEASE, 3, 0), self.taken)


@needs_manager
class RealPlansTest(unittest.TestCase):
    def setUp(self) -> None:
        self.manager = Manager()
        self.addCleanup(self.manager.end)
        self.client = orbitkv.connect(self.manager.socket, instance="plans", role="scheduler", timeout=DEADLINE)
        self.addCleanup(self.client.close)
        if self.client._claims is None:
            self.skipTest("this Manager offers no plans")

    def test_promise_is_redeemed_by_another_process(self) -> None:
        block, data = name(), os.urandom(70_000)
        publish(self.client, {block: data})
        script = (
            "import orbitkv, sys\n"
            "with orbitkv.connect(sys.argv[1], instance='plans', role='worker') as c:\n"
            "    print('ready', flush=True); record, generation = map(int, input().split())\n"
            "    with c.claim(record, generation) as claim:\n"
            "        page = bytearray(claim.blocks[0].bytes); claim.copy_into(0, page)\n"
            "    print(page.hex(), flush=True); sys.stdin.read()\n"
        )
        worker = program(script, self.manager.socket)
        assert worker.stdout is not None and worker.stdin is not None
        self.assertEqual(worker.stdout.readline().strip(), "ready")
        plan = self.client.promise([block, name()], redeemers=1)
        assert plan is not None
        self.assertEqual(plan.blocks, (orbitkv.PlanBlock(0, 70_000),))
        self.assertEqual(self.client.observe(plan.record, plan.generation).state, "granted")
        print(plan.record, plan.generation, file=worker.stdin, flush=True)
        self.assertEqual(worker.stdout.readline().strip(), data.hex())
        until(
            "the plan ended whole",
            lambda: self.client.observe(plan.record, plan.generation).state == "ended whole",
        )
        self.assertIn("LOCAL_QUIESCED", self.client.observe(plan.record, plan.generation).evidence)
        finished(worker)

    def test_promise_outlives_the_manager(self) -> None:
        block, data = name(), os.urandom(70_000)
        publish(self.client, {block: data})
        plan = self.client.promise([block], redeemers=1)
        assert plan is not None
        self.manager.kill()
        with plan.claim() as claim:
            page = bytearray(70_000)
            claim.copy_into(0, page)
        self.assertEqual(page, data)

    def test_cancel_wins_or_loses(self) -> None:
        block = name()
        publish(self.client, {block: bytes(4096)})
        plan = self.client.promise([block], redeemers=1)
        assert plan is not None
        with plan.claim() as claim:
            self.assertEqual(self.client.cancel_plan(plan.record, plan.generation), "active")
            claim.copy_into(0, bytearray(4096))
        until("it has ended", lambda: self.client.cancel_plan(plan.record, plan.generation) in ("ended", "won"))
        other = self.client.promise([block], redeemers=1)
        assert other is not None
        self.assertEqual(self.client.cancel_plan(other.record, other.generation), "won")
        with self.assertRaises(orbitkv.OrbitKVError):
            other.claim()

    def test_promise_is_shortened(self) -> None:
        blocks = {name(): os.urandom(5000) for _ in range(3)}
        publish(self.client, blocks)
        plan = self.client.promise(list(blocks), redeemers=1)
        assert plan is not None
        shorter = self.client.revise(plan.record, plan.generation, 2)
        assert isinstance(shorter, orbitkv.Plan), shorter
        self.assertEqual([block.index for block in shorter.blocks], [0, 1])
        with self.assertRaises(orbitkv.OrbitKVError):
            plan.claim()
        with shorter.claim() as claim:
            self.assertEqual(self.client.revise(shorter.record, shorter.generation, 1), "active")
            claim.copy_into(1, bytearray(5000))

    def test_restore_of_a_lease(self) -> None:
        blocks = {name(): os.urandom(5000) for _ in range(3)}
        publish(self.client, blocks)
        lease = self.client.query(list(blocks))
        plan = self.client.restore(lease, [2, 0], redeemers=1)
        with plan.claim() as claim:
            pages = [bytearray(5000), bytearray(5000)]
            for number, page in enumerate(pages):
                claim.copy_into(number, page)
        data = list(blocks.values())
        self.assertEqual(pages, [data[2], data[0]])
        lease.close()
        self.assertIsNone(self.client.promise([name()]))
