package io.orbitkv.manager.local;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.ReadEntry;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One query, from its admission to its answer. A lease whose answer can not be sent is given back:
 * nobody was told of it.
 */
final class QueryOperation {
  private static final Logger LOG = LoggerFactory.getLogger(QueryOperation.class);

  private final LocalSession session;
  private final LocalContext context;
  private final long requestId;
  private final long descriptorBytes;
  private long charge;

  QueryOperation(LocalSession session, LocalContext context, long requestId, long descriptorBytes) {
    this.session = session;
    this.context = context;
    this.requestId = requestId;
    this.descriptorBytes = descriptorBytes;
  }

  /** Throws the refusal, if it is not admitted. */
  void start(List<BlockName> names, BlockService.ReadOptions options) {
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
    CompletableFuture<BlockService.LeasedRead> read;
    try {
      read = context.service().read(session.token(), names, options);
    } catch (RuntimeException e) {
      read = CompletableFuture.failedFuture(e);
    }
    var _ = read.whenComplete(this::answered);
  }

  private void answered(BlockService.@Nullable LeasedRead read, @Nullable Throwable fault) {
    context.queries().release();
    if (read == null) {
      session.answer(SessionWork.Kind.QUERY, charge, Answer.refusal(requestId, refusal(fault)));
      return;
    }
    long lease = read.lease();
    if (lease == 0) {
      session.answer(SessionWork.Kind.QUERY, charge, encode(read, null));
    } else if (session.keep(lease, charge)) {
      session.answerPlaced(encode(read, () -> session.neverTold(lease)));
    } else {
      session.settle(SessionWork.Kind.QUERY, charge);
    }
  }

  private Answer encode(BlockService.LeasedRead read, @Nullable Runnable whenDropped) {
    List<ReadEntry> entries = new ArrayList<>(read.blocks().size());
    for (BlockService.LeasedBlock block : read.blocks()) {
      entries.add(
          new ReadEntry(
              block.index(),
              block.origin() == BlockService.Origin.PEER
                  ? ReadEntry.ORIGIN_PEER
                  : ReadEntry.ORIGIN_LOCAL,
              block.arena(),
              block.offset(),
              block.bytes(),
              block.generation()));
    }
    long left = Math.max(0, read.expiresAtNanos() - System.nanoTime());
    return new Answer(
        Opcode.QUERY_ANSWER,
        requestId,
        read.lease(),
        read.lease() == 0 ? 0 : left,
        MemorySegment.ofArray(ReadEntry.encode(entries)),
        whenDropped);
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
