package io.orbitkv.adapter;

import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A query that was submitted. Thread-safe; made by {@link ManagerClient#submitQuery}, and over once
 * {@link #result} is. Its calls block for the client's timeout at most, and refuse to run on the
 * thread that completes futures.
 */
public final class PendingQuery {
  private static final long PENDING = 1;
  private static final long DEFERRED = 2;
  private static final long NOT_PENDING = 3;
  private static final long WON = 1;

  private final Connection connection;
  private final Duration timeout;
  private final long id;
  private final CompletableFuture<BlockLease> result;

  PendingQuery(
      Connection connection, Duration timeout, long id, CompletableFuture<BlockLease> result) {
    this.connection = connection;
    this.timeout = timeout;
    this.id = id;
    this.result = result;
  }

  /** What was found, as {@link ManagerClient#query} gives it; the caller closes it. */
  public CompletableFuture<BlockLease> result() {
    return result;
  }

  /**
   * Asks the Manager whether it has not answered yet.
   *
   * @return false: it has answered, so {@link #result} ends without a wait for the Manager
   * @throws TransportException PEER_LOST, DEADLINE
   */
  public boolean poll() {
    long state = ask(Opcode.POLL, Opcode.POLL_ANSWER);
    if (state != PENDING && state != DEFERRED && state != NOT_PENDING) {
      throw unknown("poll", state);
    }
    return state != NOT_PENDING;
  }

  /**
   * Takes it back.
   *
   * @return true: nothing is pinned for it, and {@link #result} ends with CANCELLED. False: it was
   *     answered before, and its result is the caller's as ever
   * @throws TransportException PEER_LOST, DEADLINE: then it may be either
   */
  public boolean cancel() {
    long how = ask(Opcode.CANCEL, Opcode.CANCEL_ANSWER);
    if (how != WON && how != NOT_PENDING) {
      throw unknown("cancel", how);
    }
    return how == WON;
  }

  private long ask(Opcode opcode, Opcode expected) {
    Taken answer = connection.command(opcode, new byte[0], id, 0, timeout, null);
    return Answers.expect(answer, expected).scalar0();
  }

  private static TransportException unknown(String what, long answer) {
    return new TransportException(
        FaultCode.CORRUPT, "Manager's answer to a " + what + ": " + answer + " is not known here");
  }
}
