package io.orbitkv.adapter;

import io.orbitkv.adapter.plan.PlanBlock;
import io.orbitkv.adapter.plan.PlanLayout;
import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.ReadEntry;
import io.orbitkv.adapter.wire.RestoreRequest;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * What this session's engine instance may copy: promises, restores, and plans that another process
 * of the instance was told of. Thread-safe; made and ended by its {@link ManagerClient}. Its calls
 * block for the client's timeout at most, beyond a deadline that they are given.
 *
 * <p>When the Manager has died, {@link #redeem}, {@link RestorePlan#restore} and {@link
 * RestorePlan#cancel} go on by what is mapped.
 */
public final class EnginePlans {
  private static final long PROMISE = 4;
  private static final long WARM_UP = 8;
  private static final long CANDIDATES = 16;
  private static final int REDEEMERS_SHIFT = 8;
  private static final int MAX_REDEEMERS = 64;

  private final Connection connection;
  private final PlanAccess access;
  private final Duration timeout;
  private final BooleanSupplier noLeases;
  private final AtomicBoolean deathTold = new AtomicBoolean();

  /**
   * No plans yet.
   *
   * @param noLeases whether no lease is left that arenas are needed for
   */
  EnginePlans(
      Connection connection, PlanAccess access, Duration timeout, BooleanSupplier noLeases) {
    this.connection = connection;
    this.access = access;
    this.timeout = timeout;
    this.noLeases = noLeases;
  }

  /**
   * Has blocks brought into the Manager's memory, as the options say, and pinned there for the
   * instance without expiry. At most half of the pool is promised to one instance; beyond it a
   * shorter prefix is.
   *
   * @param redeemers how many sessions of the instance will restore it, 1 to 64; 0 for every
   *     session of role worker that is open then. It ends with the last of them
   * @return the plan, to be restored or cancelled; empty if nothing was found
   * @throws TransportException EXHAUSTED, INVALID, CLOSING, PEER_LOST, DEADLINE: then nothing stays
   *     pinned
   */
  public Optional<RestorePlan> promise(List<BlockName> names, QueryOptions query, int redeemers) {
    if (redeemers < 0 || redeemers > MAX_REDEEMERS) {
      throw new IllegalArgumentException(
          "promise for " + redeemers + " sessions; allowed are 0 to " + MAX_REDEEMERS);
    }
    Taken answer = ask(names, query, PROMISE | (long) redeemers << REDEEMERS_SHIFT);
    if (answer.command().opcode() == Opcode.QUERY_ANSWER.wire()) {
      return Optional.empty();
    }
    return Optional.of(told(answer));
  }

  /**
   * Has missing blocks brought into the Manager's memory, and pins none.
   *
   * @return what was there when it was answered
   */
  public List<Candidate> warmUp(List<BlockName> names, QueryOptions query) {
    return candidates(names, ask(names, query, WARM_UP));
  }

  /** Which blocks the Manager holds now; fetches and pins none. The options' fetch is ignored. */
  public List<Candidate> candidates(List<BlockName> names, QueryOptions query) {
    QueryOptions local = new QueryOptions(false, query.prefix(), query.deadline());
    return candidates(names, ask(names, local, CANDIDATES));
  }

  private Taken ask(List<BlockName> names, QueryOptions query, long flags) {
    QueryOptions.check(names);
    return connection.command(
        Opcode.QUERY,
        Names.encode(names),
        query.deadline().toNanos(),
        query.flags() | flags,
        query.deadline().plus(timeout),
        this::late);
  }

  private static List<Candidate> candidates(List<BlockName> names, Taken answer) {
    var _ = Answers.expect(answer, Opcode.QUERY_ANSWER);
    List<Candidate> found = new ArrayList<>();
    for (ReadEntry entry : ReadEntry.decode(new Cursor("candidates", answer.descriptor()))) {
      if (entry.index() >= names.size()) {
        throw new TransportException(
            FaultCode.CORRUPT, "Manager's answer: block " + entry.index() + " was not asked for");
      }
      found.add(new Candidate((int) entry.index(), names.get((int) entry.index()), entry.bytes()));
    }
    return found;
  }

  /**
   * Turns a lease into a plan, and uses the lease up. To be called again with the same lease if it
   * threw DEADLINE: then the same plan comes, and nothing is done twice.
   *
   * @param lease of this client, no copy of it under way; closed by this if it succeeds
   * @param blocks of the lease, in the order that the plan is to have
   * @param deadline how long the Manager may wait for room among the instance's plans
   * @throws TransportException EXHAUSTED if it can never fit, NOT_FOUND, CLOSING: the lease is as
   *     it was; DEADLINE, CANCELLED (interrupted), PEER_LOST; GRANT_ENDED if the plan of an earlier
   *     call has ended since
   */
  public RestorePlan restore(BlockLease lease, List<LeasedBlock> blocks, Duration deadline) {
    // Nothing may be begun that the command would refuse to do.
    connection.refuseOwnThreads("restore");
    long nanos = deadline.toNanos();
    List<Long> generations = lease.beginUse(blocks, connection::newOperation);
    boolean untouched = false;
    try {
      byte[] request = new RestoreRequest(nanos, 1, generations).encode();
      Taken answer;
      try {
        answer =
            connection.command(
                Opcode.RESTORE,
                request,
                lease.id(),
                lease.operation(),
                deadline.plus(timeout),
                late -> lease.plannedLate(() -> late(late)));
      } catch (TransportException e) {
        // Otherwise the Manager may have done it, and may have undone it since.
        untouched =
            e.code() != FaultCode.DEADLINE
                && e.code() != FaultCode.CANCELLED
                && e.code() != FaultCode.PEER_LOST;
        throw e;
      }
      // Whatever comes of the plan here: the Manager holds nothing for the lease any more.
      lease.usedUp();
      return told(answer);
    } finally {
      lease.endUse(untouched);
    }
  }

  /**
   * A plan that another session of this instance was told of. Works when the Manager has died.
   *
   * @throws TransportException GRANT_ENDED if it is granted no more, was granted before this
   *     session began, or was claimed by it already
   * @throws IllegalStateException if this client is closed
   */
  public RestorePlan redeem(int record, long generation) {
    OwnProcess.check();
    if (record < 0 || record >= PlanLayout.RECORDS) {
      throw new IllegalArgumentException("plan of record " + record + "; records are 0 to 1,023");
    }
    if (access.enter() == null) {
      throw new IllegalStateException("this client is closed; connect again");
    }
    try {
      List<PlanBlock> blocks = access.read(record, generation);
      return new RestorePlan(
          this, access, record, generation, blocks, access.claim(record, generation));
    } finally {
      access.leave();
    }
  }

  /**
   * Shortens a plan that no session has claimed to its first blocks; the others are unpinned.
   *
   * @return the plan that takes its place; empty if a session has claimed it, or it has ended
   * @throws TransportException INVALID if it has not so many blocks, PEER_LOST, DEADLINE
   */
  public Optional<RestorePlan> revise(RestorePlan plan, int keep) {
    byte[] revision = new byte[8];
    new Cursor("revision", MemorySegment.ofArray(revision)).putU32(keep).putU32(0);
    Taken answer =
        connection.command(
            Opcode.REVISE, revision, plan.record(), plan.generation(), timeout, this::late);
    return answer.command().opcode() == Opcode.PLAN.wire()
        ? Optional.of(told(answer))
        : Optional.empty();
  }

  /** How a plan of this instance stands. */
  public PlanReport observe(int record, long generation) {
    Command command =
        Answers.expect(
            connection.command(Opcode.OBSERVE, new byte[0], record, generation, timeout, null),
            Opcode.OBSERVE_ANSWER);
    return PlanReport.ofWire(command.scalar0(), command.scalar1());
  }

  PlanCancellation cancel(RestorePlan plan, boolean givenUp) {
    try {
      if (connection.alive()) {
        Command command =
            Answers.expect(
                connection.command(
                    Opcode.CANCEL_PLAN,
                    new byte[0],
                    plan.record(),
                    plan.generation(),
                    timeout,
                    null),
                Opcode.CANCEL_PLAN_ANSWER);
        return PlanCancellation.ofWire(command.scalar0());
      }
    } catch (TransportException e) {
      if (e.code() != FaultCode.PEER_LOST) {
        throw e;
      }
    }
    lookForDeath();
    return givenUp ? PlanCancellation.GIVEN_UP_HERE : PlanCancellation.LOST_TO_ACTIVE;
  }

  /** A claim has ended: wakes the Manager, or does what is left to do without it. */
  void ended(RestorePlan plan) {
    try {
      if (connection.alive()) {
        connection.tell(Opcode.RESTORE_ENDED, plan.record(), plan.generation());
      }
    } catch (TransportException e) {
      // It looks at the words at the next occasion, or sees the end of this process.
    }
    lookForDeath();
  }

  private void lookForDeath() {
    if (connection.managerExited() && deathTold.compareAndSet(false, true)) {
      access.managerDied(
          () -> {
            if (noLeases.getAsBoolean()) {
              access.unmap();
            }
          });
    }
  }

  private RestorePlan told(Taken answer) {
    Command command = Answers.expect(answer, Opcode.PLAN);
    if (command.scalar0() < 0 || command.scalar0() >= PlanLayout.RECORDS) {
      throw new TransportException(
          FaultCode.CORRUPT, "Manager's answer: plan in record " + command.scalar0());
    }
    List<PlanBlock> blocks = new ArrayList<>();
    for (ReadEntry entry : ReadEntry.decode(new Cursor("plan", answer.descriptor()))) {
      PlanBlock block =
          new PlanBlock(
              entry.index(), entry.arena(), entry.offset(), entry.bytes(), entry.generation());
      access.check(block);
      blocks.add(block);
    }
    int record = (int) command.scalar0();
    if (blocks.isEmpty()) {
      // Told again after its end.
      throw access.ended(record, command.scalar1());
    }
    return new RestorePlan(
        this, access, record, command.scalar1(), blocks, access.claim(record, command.scalar1()));
  }

  /** An answer that came after its timeout: nobody waits for the plan. */
  private void late(Taken answer) {
    Command command = answer.command();
    if (command.opcode() == Opcode.PLAN.wire() && connection.alive()) {
      try {
        connection.tell(Opcode.CANCEL_PLAN, command.scalar0(), command.scalar1());
      } catch (TransportException e) {
        // It ends with this process.
      }
    }
  }

  void close() {
    access.close();
  }
}
