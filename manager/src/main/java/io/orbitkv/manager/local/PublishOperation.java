package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.PublishEntry;
import io.orbitkv.adapter.wire.PublishStatus;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One publish: copies a block per turn on a copy thread and then queues behind the others, so that
 * a long one does not hold up a short one. Answered once, after its last block.
 */
final class PublishOperation implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(PublishOperation.class);

  private final LocalSession session;
  private final LocalContext context;
  private final long requestId;
  private final long charge;
  private final List<PublishEntry> entries;
  private final boolean digest;
  private final List<PublishStatus> statuses;

  /**
   * An operation that was admitted with that charge.
   *
   * @param digest whether the engine asked for digests
   */
  PublishOperation(
      LocalSession session,
      LocalContext context,
      long requestId,
      long charge,
      List<PublishEntry> entries,
      boolean digest) {
    this.session = session;
    this.context = context;
    this.requestId = requestId;
    this.charge = charge;
    this.entries = entries;
    this.digest = digest;
    this.statuses = new ArrayList<>(entries.size());
  }

  /** What the answer to so many blocks takes, bytes. */
  static long answerBytes(int blocks) {
    return (long) blocks * PublishStatus.BYTES;
  }

  @Override
  public void run() {
    if (statuses.size() < entries.size()) {
      statuses.add(publish(entries.get(statuses.size())));
    }
    if (statuses.size() < entries.size()) {
      try {
        context.copies().execute(this);
        return;
      } catch (RejectedExecutionException _) {
        PublishStatus closing =
            PublishStatus.fault(FaultCode.CLOSING, "the Manager is stopping; publish again later");
        while (statuses.size() < entries.size()) {
          statuses.add(closing);
        }
      }
    }
    MemorySegment descriptor = MemorySegment.ofArray(PublishStatus.encode(statuses));
    session.answer(
        SessionWork.Kind.PUBLISH,
        charge,
        new Answer(Opcode.PUBLISH_ANSWER, requestId, 0, 0, descriptor, null));
  }

  private PublishStatus publish(PublishEntry entry) {
    try {
      return PublishStatus.ok(copy(entry));
    } catch (TransportException e) {
      return PublishStatus.fault(e.code(), String.valueOf(e.getMessage()));
    } catch (RuntimeException | InternalError e) {
      // InternalError is how the JVM tells of a fault in memory of the engine.
      LOG.error("session {}: publishing block {} failed", session.slot(), entry.name(), e);
      return PublishStatus.fault(FaultCode.INTERNAL, "the Manager failed: " + e);
    }
  }

  private int copy(PublishEntry entry) {
    if (session.exited()) {
      throw new TransportException(FaultCode.CANCELLED, "its process has exited");
    }
    EngineMemory memory = session.memories().find(entry.registration(), entry.generation());
    long room = memory.mapping().bytes();
    if (entry.bytes() < 1
        || entry.offset() < 0
        || entry.offset() > room
        || entry.bytes() > room - entry.offset()) {
      throw new TransportException(
          FaultCode.INVALID,
          entry.bytes() + " bytes at " + entry.offset() + " leave the registration's " + room);
    }
    MemorySegment source = memory.mapping().enter();
    if (source == null) {
      throw new TransportException(
          FaultCode.NOT_FOUND, "registration " + entry.registration() + " was withdrawn");
    }
    try {
      BlockService.Published published =
          context
              .service()
              .publish(entry.name(), source.asSlice(entry.offset(), entry.bytes()), digest);
      return published == BlockService.Published.STORED
          ? PublishStatus.STORED
          : PublishStatus.PRESENT;
    } finally {
      memory.mapping().leave();
    }
  }
}
