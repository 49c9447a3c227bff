package io.orbitkv.manager.local;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.ReadEntry;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.local.BlockService.LeasedBlock;
import io.orbitkv.manager.local.BlockService.LeasedRead;
import io.orbitkv.manager.plan.Plan;
import io.orbitkv.manager.plan.PlanKind;
import io.orbitkv.manager.plan.PlanRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One query, from its admission to its answer. A lease whose answer can not be sent is given back:
 * nobody was told of it. Cancelled, it is answered at once, and keeps its place until the read has
 * come to its end.
 */
final class QueryOperation implements SessionPlans.Pending {
  private static final Logger LOG = LoggerFactory.getLogger(QueryOperation.class);

  private final LocalSession session;
  private final LocalContext context;
  private final long requestId;
  private final long descriptorBytes;
  private final QueryWish wish;
  private final long deadlineNanos;
  private final AtomicBoolean answered = new AtomicBoolean();
  private volatile @Nullable PlanAsk ask;
  private long charge;

  /** Not admitted yet; the deadline is of {@link System#nanoTime()}. */
  QueryOperation(
      LocalSession session,
      LocalContext context,
      long requestId,
      long descriptorBytes,
      QueryWish wish,
      long deadlineNanos) {
    this.session = session;
    this.context = context;
    this.requestId = requestId;
    this.descriptorBytes = descriptorBytes;
    this.wish = wish;
    this.deadlineNanos = deadlineNanos;
  }

  /** Throws the refusal, if it is not admitted. */
  void start(List<BlockName> names) {
    charge = Math.max(descriptorBytes, (long) names.size() * ReadEntry.BYTES);
    session.admit(SessionWork.Kind.QUERY, charge);
    boolean started = false;
    try {
      context.admitQuery();
      started = true;
    } finally {
      if (!started) {
        session.settle(SessionWork.Kind.QUERY, charge);
      }
    }
    session.plans().begin(requestId, this);
    var _ = read(names).whenComplete(this::found);
  }

  private CompletableFuture<LeasedRead> read(List<BlockName> names) {
    try {
      if (wish.answer() == QueryWish.Kind.CANDIDATES) {
        return CompletableFuture.completedFuture(
            new LeasedRead(0, 0, context.service().candidates(names, wish.prefix())));
      }
      BlockService.ReadOptions options =
          new BlockService.ReadOptions(wish.fetch(), wish.prefix(), deadlineNanos);
      return context.service().read(session.token(), names, options);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public boolean deferred() {
    PlanAsk waiting = ask;
    return waiting != null && waiting.deferred();
  }

  @Override
  public boolean cancel() {
    PlanAsk waiting = ask;
    if (waiting != null) {
      return waiting.cancel();
    }
    if (!answered.compareAndSet(false, true)) {
      return false;
    }
    session.plans().end(requestId);
    TransportException why =
        new TransportException(FaultCode.CANCELLED, "query: cancelled by the engine");
    session.ring().answer(Answer.refusal(requestId, why));
    return true;
  }

  private void found(@Nullable LeasedRead read, @Nullable Throwable fault) {
    context.queries().release();
    if (!answered.compareAndSet(false, true)) {
      if (read != null) {
        giveBack(read.lease());
      }
      session.settle(SessionWork.Kind.QUERY, charge);
      return;
    }
    if (read == null) {
      answer(Answer.refusal(requestId, refusal(fault)));
      return;
    }
    long lease = read.lease();
    if (lease == 0) {
      answer(encode(read, null));
    } else if (wish.answer() == QueryWish.Kind.WARM_UP) {
      giveBack(lease);
      answer(encode(new LeasedRead(0, 0, unpinned(read.blocks())), null));
    } else if (wish.answer() == QueryWish.Kind.PROMISE) {
      promise(read);
    } else if (session.keep(lease, charge)) {
      session.plans().end(requestId);
      session.answerPlaced(encode(read, () -> session.neverTold(lease)));
    } else {
      session.plans().end(requestId);
      session.settle(SessionWork.Kind.QUERY, charge);
    }
  }

  private void promise(LeasedRead read) {
    List<PlanRequest.Wanted> wanted = new ArrayList<>(read.blocks().size());
    List<Long> generations = new ArrayList<>(read.blocks().size());
    for (LeasedBlock block : read.blocks()) {
      wanted.add(new PlanRequest.Wanted(block.index(), block.bytes()));
      generations.add(block.generation());
    }
    PlanAsk plan =
        new PlanAsk(
            session,
            PlanKind.PROMISE,
            wish.redeemers(),
            wanted,
            (count, name) ->
                context
                    .service()
                    .pin(session.token(), read.lease(), generations.subList(0, count), name),
            new PlanRequest.Answer() {
              @Override
              public void granted(Plan granted) {
                answer(
                    SessionPlans.plan(
                        requestId,
                        granted,
                        read.blocks(),
                        () -> session.plans().neverTold(granted)));
              }

              @Override
              public void missed() {
                giveBack(read.lease());
                answer(encode(new LeasedRead(0, 0, List.of()), null));
              }

              @Override
              public void refused(TransportException why) {
                giveBack(read.lease());
                answer(Answer.refusal(requestId, why));
              }
            });
    ask = plan;
    plan.start(deadlineNanos);
  }

  private void answer(Answer answer) {
    session.plans().end(requestId);
    session.answer(SessionWork.Kind.QUERY, charge, answer);
  }

  private void giveBack(long lease) {
    if (lease == 0) {
      return;
    }
    try {
      context.service().release(session.token(), lease);
    } catch (TransportException e) {
      // Its process has exited, which has ended it.
      LOG.debug("query: lease {} was ended already: {}", lease, e.getMessage());
    }
  }

  private static List<LeasedBlock> unpinned(List<LeasedBlock> blocks) {
    return blocks.stream()
        .map(block -> new LeasedBlock(block.index(), block.origin(), 0, 0, block.bytes(), 0))
        .toList();
  }

  private Answer encode(LeasedRead read, @Nullable Runnable whenDropped) {
    List<ReadEntry> entries = new ArrayList<>(read.blocks().size());
    read.blocks().forEach(block -> entries.add(entry(block)));
    long left = Math.max(0, read.expiresAtNanos() - System.nanoTime());
    return new Answer(
        Opcode.QUERY_ANSWER,
        requestId,
        read.lease(),
        read.lease() == 0 ? 0 : left,
        MemorySegment.ofArray(ReadEntry.encode(entries)),
        whenDropped);
  }

  /** A block as it is told. */
  static ReadEntry entry(LeasedBlock block) {
    return new ReadEntry(
        block.index(),
        block.origin() == BlockService.Origin.PEER ? ReadEntry.ORIGIN_PEER : ReadEntry.ORIGIN_LOCAL,
        block.arena(),
        block.offset(),
        block.bytes(),
        block.generation());
  }

  private static TransportException refusal(@Nullable Throwable fault) {
    Throwable cause =
        fault instanceof CompletionException && fault.getCause() != null ? fault.getCause() : fault;
    if (cause instanceof TransportException known) {
      return known;
    }
    LOG.error("query failed", cause);
    return new TransportException(FaultCode.INTERNAL, "query: the Manager failed: " + cause);
  }
}
