package io.orbitkv.adapter;

import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.api.TransportException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One command that was not answered yet. What becomes of its answer can change until that is there;
 * guarded by {@link RingCalls} but for {@link #over()}.
 */
final class RingCall {
  /** What becomes of the answer. */
  enum Kind {
    /** A thread waits for it. */
    WAITED_FOR,
    /** A future is completed with it, on the thread for that. */
    FUTURE,
    /** Nobody cares. */
    IGNORED
  }

  private final long id;
  private final CompletableFuture<Taken> future = new CompletableFuture<>();
  private final @Nullable Thread waiter;
  private Kind kind;
  private volatile @Nullable Taken reply;
  private volatile @Nullable TransportException fault;
  private boolean submitted;

  RingCall(long id, Kind kind) {
    this.id = id;
    this.kind = kind;
    this.waiter = kind == Kind.WAITED_FOR ? Thread.currentThread() : null;
  }

  long id() {
    return id;
  }

  /** Its command is in the ring; by the thread that submits it. */
  void wasSubmitted() {
    submitted = true;
  }

  /** Whether its command is in the ring; for the thread that submits it. */
  boolean submitted() {
    return submitted;
  }

  Kind kind() {
    return kind;
  }

  void become(Kind next) {
    kind = next;
  }

  @Nullable Thread waiter() {
    return waiter;
  }

  CompletableFuture<Taken> future() {
    return future;
  }

  /** It was answered, or never will be. */
  void end(@Nullable Taken answer, @Nullable TransportException why) {
    reply = answer;
    fault = why;
  }

  /** Whether it was answered, or never will be; for any thread. */
  boolean over() {
    return reply != null || fault != null;
  }

  @Nullable Taken reply() {
    return reply;
  }

  @Nullable TransportException fault() {
    return fault;
  }

  /** Completes the future with how it ended. */
  void tell() {
    Taken answer = reply;
    TransportException why = fault;
    if (answer != null) {
      future.complete(answer);
    } else if (why != null) {
      future.completeExceptionally(why);
    }
  }
}
