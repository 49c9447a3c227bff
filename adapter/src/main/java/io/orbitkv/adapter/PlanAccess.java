package io.orbitkv.adapter;

import io.orbitkv.adapter.plan.PlanBlock;
import io.orbitkv.adapter.plan.PlanHeader;
import io.orbitkv.adapter.plan.PlanLayout;
import io.orbitkv.adapter.plan.PlanMemory;
import io.orbitkv.adapter.restore.HostBarriers;
import io.orbitkv.adapter.restore.ManagerState;
import io.orbitkv.adapter.restore.MappedWord;
import io.orbitkv.adapter.restore.RestoreClaim;
import io.orbitkv.adapter.restore.RestoreWord;
import io.orbitkv.adapter.restore.SessionClaims;
import io.orbitkv.adapter.restore.SharedWord;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.SharedMapping;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The memory behind the plans and leases of one session, and its claims. Thread-safe; owns the
 * plans, the claims and the arenas. Needs no Manager.
 */
final class PlanAccess {
  private final List<SharedMapping> arenas;
  private final SharedMapping plans;
  private final SharedMapping claimWords;
  private final MemorySegment planBytes;
  private final long firstGeneration;
  private final SessionClaims claims;
  private final AtomicBoolean unmapped = new AtomicBoolean();

  PlanAccess(Bootstrap bootstrap) {
    this.arenas = bootstrap.arenas();
    this.plans = bootstrap.plans();
    this.claimWords = bootstrap.claims();
    this.planBytes = bytes(plans);
    this.firstGeneration = bootstrap.welcome().plans().firstGeneration();
    MemorySegment own = bytes(claimWords);
    this.claims =
        new SessionClaims(
            PlanLayout.RECORDS,
            record -> new MappedWord(own, PlanLayout.claim(record)),
            this::managerWord,
            new HostBarriers());
  }

  /** Stays valid until the mapping is closed, and throws from then on. */
  private static MemorySegment bytes(SharedMapping mapping) {
    MemorySegment bytes = Objects.requireNonNull(mapping.enter(), "a new mapping");
    mapping.leave();
    return bytes;
  }

  /** Nobody watches this session's word for a plan that is older than it: such a one reads NONE. */
  private SharedWord managerWord(int record) {
    SharedWord word = new MappedWord(planBytes, PlanLayout.record(record));
    return new SharedWord() {
      @Override
      public long load() {
        long value = word.load();
        return RestoreWord.generation(value) < firstGeneration ? 0 : value;
      }

      @Override
      public void store(long value) {
        throw new IllegalStateException("the Manager's word is the Manager's to write");
      }
    };
  }

  /** This session's claim of a plan; throws GRANT_ENDED if it was used, or a newer one was. */
  RestoreClaim claim(int record, long generation) {
    try {
      return claims.hold(record, generation);
    } catch (IllegalStateException e) {
      throw new TransportException(FaultCode.GRANT_ENDED, String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * What a record that another session was told of lists.
   *
   * @throws TransportException GRANT_ENDED if it says GRANTED of that generation no more, or never
   *     did to this session
   */
  List<PlanBlock> read(int record, long generation) {
    if (generation < firstGeneration) {
      throw new TransportException(
          FaultCode.GRANT_ENDED,
          "plan %d.%d is older than this session; only sessions that were open then redeem it"
              .formatted(record, generation));
    }
    SharedWord word = managerWord(record);
    boolean granted = ManagerState.read(word.load(), generation) == ManagerState.GRANTED;
    List<PlanBlock> blocks = new ArrayList<>();
    if (granted) {
      PlanHeader header = PlanHeader.decode(cursor(record));
      Cursor bank = PlanMemory.blocks(planBytes, header.first(), header.count());
      for (long i = 0; i < header.count(); i++) {
        blocks.add(PlanBlock.decode(bank));
      }
      // What was read is that plan's only if the record still was its own behind it.
      VarHandle.loadLoadFence();
      granted = ManagerState.read(word.load(), generation) == ManagerState.GRANTED;
    }
    if (!granted) {
      throw ended(record, generation);
    }
    blocks.forEach(this::check);
    return blocks;
  }

  /** Refuses a block that is not inside of its arena. */
  void check(PlanBlock block) {
    boolean inside = block.arena() >= 0 && block.arena() < arenas.size();
    long room = inside ? arenas.get((int) block.arena()).bytes() : 0;
    if (block.offset() < 0
        || block.bytes() < 1
        || block.offset() > room
        || block.bytes() > room - block.offset()) {
      throw new TransportException(
          FaultCode.CORRUPT,
          "plan: block " + block.index() + " is outside of the arenas; connect again");
    }
  }

  /** The refusal of a plan that is granted no more, with the Manager's reason. */
  TransportException ended(int record, long generation) {
    String why = PlanHeader.decodeText(cursor(record));
    return new TransportException(
        FaultCode.GRANT_ENDED,
        "plan %d.%d is not granted to this session%s; ask for its blocks again"
            .formatted(record, generation, why.isEmpty() ? "" : " (" + why + ")"));
  }

  private Cursor cursor(int record) {
    return PlanMemory.record(planBytes, record);
  }

  /**
   * Keeps everything mapped until {@link #leave}.
   *
   * @return the arenas; null once closed, and then nothing is owed
   */
  @Nullable List<MemorySegment> enter() {
    List<SharedMapping> entered = new ArrayList<>();
    List<MemorySegment> bytes = new ArrayList<>();
    for (SharedMapping mapping : all()) {
      MemorySegment one = mapping.enter();
      if (one == null) {
        entered.forEach(SharedMapping::leave);
        return null;
      }
      entered.add(mapping);
      bytes.add(one);
    }
    return bytes.subList(2, bytes.size());
  }

  void leave() {
    all().forEach(SharedMapping::leave);
  }

  private List<SharedMapping> all() {
    List<SharedMapping> all = new ArrayList<>(List.of(plans, claimWords));
    all.addAll(arenas);
    return all;
  }

  /** As {@link SessionClaims#managerDied}. */
  void managerDied(Runnable lastPlanEnded) {
    claims.managerDied(lastPlanEnded);
  }

  /** Gives up what was not claimed, and unmaps. */
  void close() {
    claims.cancelHeld();
    unmap();
  }

  /** Unmaps everything, the arenas too, each once no copy is under way. */
  void unmap() {
    if (unmapped.compareAndSet(false, true)) {
      all().forEach(mapping -> mapping.close(() -> {}));
    }
  }
}
