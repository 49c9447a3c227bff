package io.orbitkv.manager.plan;

import io.orbitkv.adapter.plan.PlanBlock;
import io.orbitkv.adapter.plan.PlanHeader;
import io.orbitkv.adapter.plan.PlanMemory;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.manager.restore.ClaimsSeen;
import io.orbitkv.manager.restore.PinnedSource;
import io.orbitkv.manager.restore.Promise;
import io.orbitkv.manager.restore.RestoreRecord;
import io.orbitkv.manager.restore.RestoringSession;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One plan of an instance: its place in the shared memory, the sessions that may claim it, and its
 * pins. What it names is immutable; the rest is guarded by its instance.
 */
public final class Plan implements PinnedSource {
  private final MemorySegment memory;
  private final int record;
  private final PlanHeader header;
  private final PlanKind kind;
  private final Member asker;
  private final List<Member> members;
  private volatile List<PlanBlock> blocks;
  private final PlanPins pins;
  private @Nullable Promise promise;
  private boolean keepsPins;
  private boolean distrusted;
  private boolean ended;

  /** Owns the pins; not granted yet. */
  Plan(
      MemorySegment memory,
      int record,
      PlanHeader header,
      PlanRequest request,
      List<Member> members,
      PlanPins pins) {
    this.memory = memory;
    this.record = record;
    this.header = header;
    this.kind = request.kind();
    this.asker = request.asker();
    this.members = List.copyOf(members);
    this.pins = pins;
    List<PlanBlock> listed = new ArrayList<>();
    for (PlanPins.Pinned pinned : pins.blocks()) {
      int index = request.blocks().get(listed.size()).index();
      listed.add(
          new PlanBlock(
              index, pinned.arena(), pinned.offset(), pinned.bytes(), pinned.generation()));
    }
    this.blocks = List.copyOf(listed);
  }

  /** Index of its record. */
  public int record() {
    return record;
  }

  /** Names it, with the record. */
  public long generation() {
    return header.generation();
  }

  /** What it lists, in order; nothing once it has ended. */
  public List<PlanBlock> blocks() {
    return blocks;
  }

  PlanHeader header() {
    return header;
  }

  PlanKind kind() {
    return kind;
  }

  Member asker() {
    return asker;
  }

  List<Member> members() {
    return members;
  }

  PlanPins pins() {
    return pins;
  }

  /** A request for its first blocks, with the pins that it has. */
  PlanRequest shortened(int keep) {
    List<PlanRequest.Wanted> wanted = new ArrayList<>();
    for (PlanBlock block : blocks.subList(0, keep)) {
      wanted.add(new PlanRequest.Wanted((int) block.index(), block.bytes()));
    }
    return new PlanRequest(
        asker, kind, (int) header.redeemers(), wanted, (_, _) -> pins, PlanRequest.NOBODY);
  }

  /** What it takes of the bytes that may be promised. */
  long promisedBytes() {
    return kind == PlanKind.PROMISE ? header.bytes() : 0;
  }

  /** Whether this is the first time that a session broke the order of its words. */
  boolean distrust() {
    boolean first = !distrusted;
    distrusted = true;
    return first;
  }

  boolean ended() {
    return ended;
  }

  void end() {
    ended = true;
    blocks = List.of();
  }

  /** The pins outlive it: another plan takes them over. */
  void keepsPins(boolean keeps) {
    keepsPins = keeps;
  }

  Promise promise() {
    Promise granted = promise;
    if (granted == null) {
      throw new IllegalStateException(this + " is not granted yet");
    }
    return granted;
  }

  /** Writes it, and GRANTED behind it. */
  void grant(RestoreRecord word) {
    // Behind the REAPED of the record's last plan: who looks at it without a claim sees that first.
    VarHandle.fullFence();
    header.encode(cursor());
    Cursor bank = PlanMemory.blocks(memory, header.first(), header.count());
    blocks.forEach(block -> block.encode(bank));
    List<RestoringSession> sessions = new ArrayList<>(members.size());
    for (Member member : members) {
      sessions.add(member.restoring(record));
    }
    Promise made = new Promise(word, header.generation(), sessions, this);
    promise = made;
    made.poll();
  }

  /** Says why it is revoked, before it is. */
  void because(String why) {
    PlanHeader.encodeText(cursor(), why);
  }

  PlanSight sight() {
    return new PlanSight(PlanState.of(promise(), ended), promise().claims().evidence());
  }

  @Override
  public void release() {
    ClaimsSeen claims = promise().claims();
    if (claims.failed() + claims.lost() > 0) {
      because(claims.failed() + " sessions failed, " + claims.lost() + " exited while they copied");
    }
    if (!keepsPins) {
      pins.release();
    }
  }

  @Override
  public void quarantine() {
    pins.quarantine();
  }

  private Cursor cursor() {
    return PlanMemory.record(memory, record);
  }

  /** Its kind and its numbers. */
  @Override
  public String toString() {
    return "%s %d.%d".formatted(kind, record, generation());
  }
}
