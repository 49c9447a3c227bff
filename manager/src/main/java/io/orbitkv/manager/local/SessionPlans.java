package io.orbitkv.manager.local;

import io.orbitkv.adapter.plan.PlanBlock;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.ReadEntry;
import io.orbitkv.adapter.wire.RestoreRequest;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.plan.InstancePlans;
import io.orbitkv.manager.plan.Plan;
import io.orbitkv.manager.plan.PlanCancel;
import io.orbitkv.manager.plan.PlanSight;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The commands of one session about plans, and its requests that are pending. Thread-safe. */
final class SessionPlans {
  /** A request that is not answered yet. */
  interface Pending {
    /** Whether it waits for room in the plan bank. */
    boolean deferred();

    /** Takes it back; it is answered by CANCELLED then. False if it was answered. */
    boolean cancel();
  }

  private static final long PENDING = 1;
  private static final long DEFERRED = 2;
  private static final long NOT_PENDING = 3;
  private static final long WON = 1;
  private static final int MAX_OPERATIONS = 1024;

  private final LocalSession session;
  private final LocalContext context;
  private final Map<Long, Pending> pending = new ConcurrentHashMap<>();
  private final Map<Long, RestoreOperation> operations = new LinkedHashMap<>();

  SessionPlans(LocalSession session, LocalContext context) {
    this.session = session;
    this.context = context;
  }

  /** A request can be asked after and cancelled from now on. */
  void begin(long requestId, Pending request) {
    pending.put(requestId, request);
  }

  /** It is answered. */
  void end(long requestId) {
    pending.remove(requestId);
  }

  void restore(Command command, Cursor descriptor) {
    long bytes = descriptor.remaining();
    RestoreRequest asked = RestoreRequest.decode(descriptor);
    long deadline = Commands.deadline(descriptor, asked.deadlineNanos());
    if (asked.generations().isEmpty() || asked.redeemers() > QueryWish.MAX_REDEEMERS) {
      throw descriptor.refused(
          asked.generations().size()
              + " blocks for "
              + asked.redeemers()
              + " redeemers; at least one block, at most 64 redeemers");
    }
    if (command.scalar1() == 0) {
      throw descriptor.refused("operation 0; number them from 1");
    }
    long charge = Math.max(bytes, (long) asked.generations().size() * ReadEntry.BYTES);
    session.admit(SessionWork.Kind.QUERY, charge);
    RestoreOperation.Waiter waiter = new RestoreOperation.Waiter(command.requestId(), charge);
    RestoreOperation before;
    synchronized (operations) {
      before = operations.get(command.scalar1());
    }
    if (before != null) {
      begin(command.requestId(), before.pending());
      if (before.join(waiter)) {
        before.tell();
        return;
      }
    }
    RestoreOperation operation =
        new RestoreOperation(session, context, command.scalar0(), asked, waiter);
    begin(command.requestId(), operation.pending());
    synchronized (operations) {
      operations.remove(command.scalar1());
      operations.put(command.scalar1(), operation);
      forgetOldest();
    }
    operation.start(deadline);
  }

  private void forgetOldest() {
    var oldest = operations.values().iterator();
    while (operations.size() > MAX_OPERATIONS && oldest.hasNext()) {
      if (oldest.next().over()) {
        oldest.remove();
      }
    }
  }

  void poll(Command command) {
    Pending request = pending.get(command.scalar0());
    long state = request == null ? NOT_PENDING : request.deferred() ? DEFERRED : PENDING;
    answer(Opcode.POLL_ANSWER, command, state, 0);
  }

  void cancel(Command command) {
    Pending request = pending.get(command.scalar0());
    boolean won = request != null && request.cancel();
    answer(Opcode.CANCEL_ANSWER, command, won ? WON : NOT_PENDING, 0);
  }

  void cancelPlan(Command command) {
    PlanCancel how =
        instance().cancel(command.scalar0(), command.scalar1(), "cancelled by the engine");
    answer(Opcode.CANCEL_PLAN_ANSWER, command, how.wire(), 0);
  }

  void observe(Command command, Opcode answer) {
    PlanSight sight = instance().observe(command.scalar0(), command.scalar1());
    answer(answer, command, sight.state().wire(), sight.evidenceBits());
  }

  void revise(Command command, Cursor descriptor) {
    long keep = descriptor.u32();
    descriptor.skip(4);
    descriptor.end();
    List<PlanCancel> how = new ArrayList<>();
    Plan plan =
        instance()
            .revise(
                command.scalar0(), command.scalar1(), (int) Math.min(keep, Integer.MAX_VALUE), how);
    if (plan == null) {
      answer(Opcode.CANCEL_PLAN_ANSWER, command, how.getFirst().wire(), 0);
    } else {
      session.ring().answer(plan(command.requestId(), plan, () -> neverTold(plan)));
    }
  }

  /** A plan whose name nobody has heard: it is over. */
  void neverTold(Plan plan) {
    var _ = instance().cancel(plan.record(), plan.generation(), "its answer was never taken");
  }

  /** The answer that tells a plan. */
  static Answer plan(long requestId, Plan plan, @Nullable Runnable whenDropped) {
    return plan(requestId, plan, List.of(), whenDropped);
  }

  /** As above, with where the blocks were found, in the same order. */
  static Answer plan(
      long requestId,
      Plan plan,
      List<BlockService.LeasedBlock> found,
      @Nullable Runnable whenDropped) {
    List<PlanBlock> blocks = plan.blocks();
    List<ReadEntry> entries = new ArrayList<>(blocks.size());
    for (int i = 0; i < blocks.size(); i++) {
      PlanBlock block = blocks.get(i);
      boolean peer = i < found.size() && found.get(i).origin() == BlockService.Origin.PEER;
      entries.add(
          new ReadEntry(
              block.index(),
              peer ? ReadEntry.ORIGIN_PEER : ReadEntry.ORIGIN_LOCAL,
              block.arena(),
              block.offset(),
              block.bytes(),
              block.generation()));
    }
    return new Answer(
        Opcode.PLAN,
        requestId,
        plan.record(),
        plan.generation(),
        MemorySegment.ofArray(ReadEntry.encode(entries)),
        whenDropped);
  }

  private void answer(Opcode opcode, Command command, long scalar0, long scalar1) {
    MemorySegment none = MemorySegment.ofArray(new byte[0]);
    session.ring().answer(new Answer(opcode, command.requestId(), scalar0, scalar1, none, null));
  }

  private InstancePlans instance() {
    return session.member().instance();
  }

  /** The refusal of a restore whose lease this session does not hold. */
  static TransportException noLease(long lease) {
    return new TransportException(
        FaultCode.NOT_FOUND,
        "restore: lease " + lease + " is not held by this session; it was used up or released");
  }
}
