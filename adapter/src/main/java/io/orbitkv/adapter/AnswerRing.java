package io.orbitkv.adapter;

import io.orbitkv.adapter.ring.RingConsumer;
import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.ring.RingMemory;
import io.orbitkv.adapter.ring.RingWait;
import io.orbitkv.ffm.PidFd;
import io.orbitkv.ffm.Poll;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The answers of one session, as they come out of the ring. For one thread at a time, which drives
 * it; the memory is its owner's.
 */
final class AnswerRing {
  /** How long a wait for an answer sleeps before it looks by itself, should a wake be lost. */
  static final long BACKSTOP_NANOS = 1_000_000_000;

  private final RingMemory memory;
  private final RingConsumer answers;
  private final @Nullable PidFd manager;
  private final RingWait wait = new RingWait();
  private final Poll poll = new Poll(2);

  /**
   * All answers of a session.
   *
   * @param manager the Manager's process; null if it can not be known
   */
  AnswerRing(RingMemory memory, @Nullable PidFd manager) {
    this.memory = memory;
    this.manager = manager;
    this.answers = new RingConsumer(memory.segment(), RingLayout.ANSWERS);
    var _ = poll.add(memory.answers().fd(), Poll.IN);
    if (manager != null) {
      var _ = poll.add(manager.fd(), Poll.IN);
    }
  }

  /** The next answer; null if there is none. Throws CORRUPT if the Manager broke the ring. */
  @Nullable Taken take() {
    Taken taken = answers.take();
    if (taken != null && answers.producerWaits()) {
      memory.requests().signal();
    }
    return taken;
  }

  /** Polls for a bounded time; whether there is an answer, or the wait is over. */
  boolean poll(BooleanSupplier over) {
    return wait.poll(() -> answers.ready() || over.getAsBoolean());
  }

  /**
   * Blocks until there may be an answer. A wake that was lost costs at most the backstop: then the
   * Manager is woken too, should it be the one who missed it.
   *
   * @param nanos the longest wait
   * @return false if the Manager's process has exited
   */
  boolean sleep(long nanos, BooleanSupplier over) {
    answers.sleeping(true);
    try {
      if (answers.ready() || over.getAsBoolean()) {
        return true;
      }
      int woken = poll.poll(Math.min(nanos, BACKSTOP_NANOS));
      var _ = memory.answers().tryConsume();
      if (woken == 0 && nanos >= BACKSTOP_NANOS) {
        memory.requests().signal();
      }
      return manager == null || woken == 0 || (poll.ready(1) & Poll.IN) == 0;
    } finally {
      answers.sleeping(false);
    }
  }
}
