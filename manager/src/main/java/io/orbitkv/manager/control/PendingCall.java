package io.orbitkv.manager.control;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.proto.ControlReply;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request that waits for its answer.
 *
 * @param what its name, for messages
 * @param ticket under which a grant was asked for, or null
 * @param bytes of the request
 * @param deadlineNanos of {@link System#nanoTime()}
 * @param future who waits
 * @param reader takes the answer out of the reply, or throws what is wrong with it
 */
record PendingCall<T>(
    String what,
    @Nullable TicketId ticket,
    int bytes,
    long deadlineNanos,
    CompletableFuture<T> future,
    Function<ControlReply, T> reader) {

  /** Whether somebody took the answer; a refusal counts as taken. */
  boolean answer(ControlReply reply) {
    if (reply.hasRefusal()) {
      fail(ControlCodec.refusal(reply.getRefusal()));
      return true;
    }
    try {
      return future.complete(reader.apply(reply));
    } catch (TransportException e) {
      fail(new TransportException(FaultCode.CORRUPT, what + ": " + e.getMessage(), e));
      return false;
    }
  }

  void fail(TransportException cause) {
    future.completeExceptionally(cause);
  }
}
