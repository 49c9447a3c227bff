package io.orbitkv.adapter;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One publish whose command is in the ring: the Manager sees it, or has seen it. Ends with the
 * Manager's answer or with the connection, never by a time. Thread-safe; nothing is to be closed.
 * The ranges must not be written while it is {@link #retained()}.
 */
public final class Publication {
  private final CompletableFuture<List<PublishResult>> results;
  private final Connection connection;
  private final long overdueAtNanos;
  private volatile boolean fateUnknown;

  Publication(
      CompletableFuture<List<PublishResult>> results,
      Connection connection,
      Duration overdueAfter) {
    this.results = results;
    this.connection = connection;
    this.overdueAtNanos = System.nanoTime() + overdueAfter.toNanos();
  }

  /**
   * Waits for the end, at most for that time.
   *
   * @return one result per piece, in order; empty if the publish is still pending, and then it goes
   *     on
   * @throws TransportException the refusal of the whole (EXHAUSTED, INVALID, CLOSING; nothing was
   *     stored), PEER_LOST if the connection ended first (whether blocks were stored is unknown),
   *     CANCELLED if this thread was interrupted (the publish goes on)
   * @throws IllegalStateException on a thread of the client
   */
  public Optional<List<PublishResult>> await(Duration timeout) {
    try {
      return Optional.of(connection.await(results, "publish", timeout));
    } catch (TransportException e) {
      // Not what the publish itself ended with.
      if (e.code() == FaultCode.DEADLINE && !results.isDone()) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /**
   * Completes with what {@link #await} returns or throws, on the client's thread for futures.
   * Cancelling it, or completing it otherwise, ends nothing of the publish.
   */
  public CompletableFuture<List<PublishResult>> future() {
    return results.copy();
  }

  /** Whether it has not ended. Never blocks. */
  public boolean active() {
    return !results.isDone();
  }

  /**
   * Whether its ranges must not be written yet: the Manager may be copying. After a connection that
   * was lost this stays so until the Manager's process has exited. Never blocks.
   */
  public boolean retained() {
    return active() || (fateUnknown && !connection.managerExited());
  }

  /** Whether it has not ended in the time that it was expected to. Never blocks. */
  public boolean overdue() {
    return active() && System.nanoTime() - overdueAtNanos >= 0;
  }

  /** Whether the Manager's process lives, by its pidfd. Never blocks. */
  public boolean managerAlive() {
    return connection.managerAlive();
  }

  /** It has ended so. */
  void ended(@Nullable Throwable fault) {
    if (fault != null && Answers.cause(fault) instanceof TransportException lost) {
      fateUnknown = lost.code() == FaultCode.PEER_LOST;
    }
  }
}
