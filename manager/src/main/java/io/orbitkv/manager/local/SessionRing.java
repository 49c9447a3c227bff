package io.orbitkv.manager.local;

import io.orbitkv.adapter.ring.RingConsumer;
import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.ring.RingMemory;
import io.orbitkv.adapter.ring.RingProducer;
import io.orbitkv.adapter.ring.RingWait;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Cpu;
import io.orbitkv.ffm.EventFd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Poll;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Manager's side of one session's rings, and the one thread that touches them: it takes
 * commands out, has them served, and puts in every answer, so that whatever the client does to
 * memory and events stalls this thread alone. Owns the memory.
 *
 * <p>Idle it blocks without a timer. A wake that its client does not send is made up for by the
 * next frame of the session, the next answer, or the client's own second wake.
 */
final class SessionRing {
  /** What the thread tells the session. */
  interface Owner {
    /** A command, to be answered now or later. */
    void command(Taken taken);

    /** The client broke the ring; {@link #requestsEnded} and {@link #ended} follow. */
    void broken(TransportException why);

    /** No command is taken any more. */
    void requestsEnded();

    /** Nothing touches the memory any more, and no answer is put in. */
    void ended();
  }

  private static final Logger LOG = LoggerFactory.getLogger(SessionRing.class);
  private static final long END_STEP_MILLIS = 20;

  /** What comes so soon after the last work would have been seen by polling, wake-up included. */
  private static final long BRISK_NANOS = 2 * RingWait.SPIN_NANOS;

  private final RingMemory memory;
  private final DescriptorRoom descriptors;
  private final Owner owner;
  private final RingConsumer requests;
  private final RingProducer answers;
  private final LateAnswers late;
  private final EventFd wake;
  private final RingWait polling = new RingWait();
  private final Poll poll = new Poll(2);
  private final Thread thread;
  private long stopAt = -1;
  private long workEnded;

  /** Whether polling pays: what it burns in vain is missing when this thread must run at once. */
  private boolean brisk = true;

  private boolean clientSignalled;
  private boolean ownSignalled;
  private boolean requestsEnded;
  private boolean told;
  private volatile boolean closing;
  private volatile boolean finishing;
  private volatile boolean abandoned;
  private volatile boolean dropped;
  private volatile boolean looked = true;
  private volatile boolean asleep;

  /**
   * Takes the memory over, and the event; not started yet.
   *
   * @param wake this side's own: no client has it, so signalling it never blocks
   */
  SessionRing(
      RingMemory memory,
      EventFd wake,
      Epoch epoch,
      DescriptorRoom descriptors,
      String name,
      Owner owner) {
    this.memory = memory;
    this.wake = wake;
    this.descriptors = descriptors;
    this.owner = owner;
    this.requests = new RingConsumer(memory.segment(), RingLayout.REQUESTS);
    this.answers = new RingProducer(memory.segment(), RingLayout.ANSWERS, epoch);
    this.late = new LateAnswers();
    var _ = poll.add(memory.requests().fd(), Poll.IN);
    var _ = poll.add(wake.fd(), Poll.IN);
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** Puts an answer in, or queues it; from any thread, never waits. */
  void answer(Answer answer) {
    if (Thread.currentThread() == thread && late.isEmpty() && !abandoned && putNow(answer)) {
      return;
    }
    if (!abandoned && late.add(answer)) {
      wake();
    } else {
      answer.dropped();
    }
  }

  /** A client that has broken its ring is told by the serving loop, not by whoever answers it. */
  private boolean putNow(Answer answer) {
    try {
      return put(answer);
    } catch (TransportException _) {
      return false;
    }
  }

  /** Looks at the requests again, should the client have failed to wake it. */
  void look() {
    looked = false;
    wake();
  }

  /** Takes what is in the ring by now and no more. */
  void close() {
    closing = true;
    wake();
  }

  /** Ends once every answer that is queued by now is in the ring. */
  void finish() {
    finishing = true;
    wake();
  }

  /** Ends soon: what is in the ring is still taken, answers are dropped. */
  void abandon() {
    abandoned = true;
    wake();
  }

  /** Ends soon: nothing is taken any more, answers are dropped. */
  void drop() {
    dropped = true;
    abandon();
  }

  /**
   * As {@link #abandon()}, and waits. A client can make the thread's event calls block; then this
   * ends them, from a thread of the same session.
   */
  void end() {
    abandon();
    boolean interrupted = false;
    while (thread.isAlive()) {
      unblock();
      try {
        thread.join(END_STEP_MILLIS);
      } catch (InterruptedException _) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void unblock() {
    try {
      // Stuck in a write: the count is full. Stuck in a read: it is empty.
      if (memory.answers().awaitSignal(0)) {
        var _ = memory.answers().tryConsume();
      }
      if (!memory.requests().awaitSignal(0)) {
        memory.requests().signal();
      }
    } catch (IllegalStateException | NativeException e) {
      LOG.debug("a session's ring ended by itself: {}", e.getMessage());
    }
  }

  private void wake() {
    if (asleep) {
      synchronized (wake) {
        if (wake.fd().isOpen()) {
          wake.signal();
        }
      }
    }
  }

  private void run() {
    try {
      serve();
    } catch (TransportException e) {
      owner.broken(e);
    } catch (RuntimeException | InternalError | OutOfMemoryError e) {
      // InternalError is how the JVM tells of a fault in shared memory.
      LOG.error("a session's ring failed, so the session ends", e);
      owner.broken(
          new TransportException(FaultCode.INTERNAL, "Manager failed to serve its ring: " + e));
    } finally {
      late.close().forEach(Answer::dropped);
      synchronized (wake) {
        wake.close();
      }
      memory.close();
      if (!requestsEnded) {
        owner.requestsEnded();
      }
      owner.ended();
    }
  }

  private void serve() {
    boolean worked = true;
    while (!abandoned || !requestsEnded) {
      looked = true;
      boolean more = putLate();
      more |= takeOne();
      endRequests();
      if (finishing && requestsEnded && late.isEmpty()) {
        return;
      }
      if (!more) {
        waitForWork(worked);
      }
      worked = more;
    }
  }

  private void waitForWork(boolean worked) {
    if (worked) {
      workEnded = System.nanoTime();
      if (brisk ? polling.poll(this::due) : yieldOnce()) {
        return;
      }
    }
    sleep();
    brisk = System.nanoTime() - workEnded < BRISK_NANOS;
  }

  /** On one processor the client reads its answer before this thread does what a sleep costs. */
  private boolean yieldOnce() {
    Cpu.yieldNow();
    return due();
  }

  private boolean takeOne() {
    if (requestsEnded || (late.full() && !abandoned) || requests.taken() == stopAt) {
      return false;
    }
    try (DescriptorRoom.Share room = descriptors.share()) {
      Taken taken = requests.take(room);
      if (taken == null) {
        return false;
      }
      owner.command(taken);
    }
    boolean clientWaits = requests.producerWaits();
    if (clientWaits || (told && answers.consumerSleeps())) {
      memory.answers().signal();
    }
    told = false;
    return true;
  }

  private void endRequests() {
    if (requestsEnded || !(closing || abandoned)) {
      return;
    }
    if (stopAt < 0) {
      stopAt = requests.written();
    }
    if (dropped || requests.taken() == stopAt) {
      requestsEnded = true;
      owner.requestsEnded();
    }
  }

  private boolean putLate() {
    boolean some = false;
    for (Answer answer = late.first(); answer != null && !abandoned; answer = late.first()) {
      if (!put(answer)) {
        break;
      }
      late.removeFirst();
      some = true;
    }
    if (some && answers.consumerSleeps()) {
      memory.answers().signal();
    }
    told = false;
    return some;
  }

  private boolean put(Answer answer) {
    boolean put =
        answers.offer(
            answer.opcode(),
            answer.requestId(),
            answer.scalar0(),
            answer.scalar1(),
            answer.descriptor());
    told |= put;
    return put;
  }

  /** Whether there is something to do. */
  private boolean due() {
    if (!looked || abandoned) {
      return true;
    }
    if ((closing && stopAt < 0) || (finishing && requestsEnded && late.isEmpty())) {
      return true;
    }
    Answer first = late.first();
    return (first != null && answers.hasRoom(first.descriptor().byteSize()))
        || (!requestsEnded && !late.full() && requests.taken() != stopAt && requests.ready());
  }

  private void sleep() {
    consumeWakes();
    asleep = true;
    // Behind the store above: who queues one later wakes this thread.
    boolean full = !late.isEmpty();
    if (full) {
      answers.waitsForRoom(true);
    }
    requests.sleeping(true);
    try {
      if (!due()) {
        var _ = poll.poll(-1);
        clientSignalled = (poll.ready(0) & Poll.IN) != 0;
        ownSignalled = (poll.ready(1) & Poll.IN) != 0;
      }
    } finally {
      requests.sleeping(false);
      if (full) {
        answers.waitsForRoom(false);
      }
      asleep = false;
    }
  }

  /** Before a sleep and not behind it, where a client waits for what woke this thread. */
  private void consumeWakes() {
    if (clientSignalled) {
      clientSignalled = false;
      var _ = memory.requests().tryConsume();
    }
    if (ownSignalled) {
      ownSignalled = false;
      var _ = wake.tryConsume();
    }
  }
}
