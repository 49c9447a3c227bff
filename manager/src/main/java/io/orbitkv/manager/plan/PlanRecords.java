package io.orbitkv.manager.plan;

import io.orbitkv.adapter.plan.PlanHeader;
import io.orbitkv.adapter.plan.PlanLayout;
import io.orbitkv.adapter.plan.PlanMemory;
import io.orbitkv.adapter.restore.HostBarriers;
import io.orbitkv.adapter.restore.MappedWord;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.manager.restore.RestoreRecord;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The records and the plan bank of one instance. Guarded by its instance. */
final class PlanRecords {
  /** Room for a plan. */
  record Place(int record, int first, int count) {}

  private static final int MAX_SESSIONS = 64;

  private final PlanMemory.Made memory;
  private final PlanBank bank = new PlanBank(PlanLayout.BLOCKS);
  private final RestoreRecord[] records = new RestoreRecord[PlanLayout.RECORDS];
  private final @Nullable Plan[] last = new @Nullable Plan[PlanLayout.RECORDS];
  private final Deque<Integer> free = new ArrayDeque<>();

  /** Takes the memory over. */
  PlanRecords(PlanMemory.Made memory) {
    this.memory = memory;
    HostBarriers barriers = new HostBarriers();
    for (int i = 0; i < records.length; i++) {
      records[i] = new RestoreRecord(new MappedWord(segment(), PlanLayout.record(i)), barriers);
      free.add(i);
    }
  }

  MemorySegment segment() {
    return memory.mapping().segment();
  }

  Fd memfd() {
    return memory.memfd();
  }

  /** Room for so many blocks, at least one; null if there is none. The longest unused record. */
  @Nullable Place take(int count) {
    if (free.isEmpty()) {
      return null;
    }
    int first = bank.take(count);
    return first < 0 ? null : new Place(free.remove(), first, count);
  }

  /** No plan was granted in it. */
  private void give(Place place) {
    bank.give(place.first(), place.count());
    free.addFirst(place.record());
  }

  /**
   * Pins what is asked for and grants it to sessions, in room that was taken for it.
   *
   * @throws TransportException if there are too many sessions, or it can not be pinned: the room is
   *     given back then
   */
  Plan grant(Place place, PlanRequest request, AtomicLong generations, List<Member> sessions) {
    boolean done = false;
    try {
      checkCount(sessions);
      long generation = generations.incrementAndGet();
      String name = request.kind() + " " + place.record() + "." + generation;
      PlanPins pins = request.pinning().pin(place.count(), name);
      PlanHeader header =
          new PlanHeader(
              generation,
              place.first(),
              place.count(),
              pins.blocks().stream().mapToLong(PlanPins.Pinned::bytes).sum(),
              request.kind().wire(),
              redeemers(request, sessions),
              request.asker().traits().slot());
      Plan plan = new Plan(segment(), place.record(), header, request, sessions, pins);
      plan.grant(records[plan.record()]);
      last[plan.record()] = plan;
      done = true;
      return plan;
    } finally {
      if (!done) {
        give(place);
      }
    }
  }

  /** A plan is told to so many sessions at most; throws EXHAUSTED. */
  static void checkCount(List<Member> sessions) {
    if (sessions.size() > MAX_SESSIONS) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          sessions.size()
              + " sessions of one instance are open; a plan is told to "
              + MAX_SESSIONS
              + " at most: close some");
    }
  }

  private static long redeemers(PlanRequest request, List<Member> sessions) {
    if (request.redeemers() > 0) {
      return request.redeemers();
    }
    return Math.max(1, sessions.stream().filter(member -> member.traits().worker()).count());
  }

  /** The plan has ended: its room is free. */
  void ended(Plan plan) {
    bank.give((int) plan.header().first(), (int) plan.header().count());
    free.add(plan.record());
  }

  /** The plan of that name, or the later one that has its record; null if it never was one. */
  @Nullable Plan find(long record, long generation) {
    if (record < 0 || record >= last.length) {
      return null;
    }
    Plan plan = last[(int) record];
    return plan == null || generation > plan.generation() ? null : plan;
  }

  /** Unmaps all: nothing writes a word any more. */
  void close() {
    memory.mapping().close();
    memory.memfd().close();
  }
}
