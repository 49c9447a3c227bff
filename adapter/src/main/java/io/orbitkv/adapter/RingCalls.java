package io.orbitkv.adapter;

import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.ring.RingMemory;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.PidFd;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The commands of one session and their answers. Thread-safe. Takes the memory over.
 *
 * <p>Who waits for an answer takes the answers out itself, for all; one does at a time, and hands
 * on. Futures are completed on a thread of their own only, which takes answers out while a future
 * is open and nobody else does.
 */
final class RingCalls {
  private static final long FOREVER_NANOS = TimeUnit.DAYS.toNanos(1);

  private final RingMemory memory;
  private final RequestRing requests;
  private final AnswerRing answers;
  private final LongSupplier ids;
  private final Consumer<String> whenBroken;
  private final Map<Long, RingCall> outstanding = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Turn turn;
  private final Teller teller;
  private boolean closed;
  private final AtomicInteger forRoom = new AtomicInteger();
  private volatile @Nullable TransportException lost;

  /**
   * No commands yet.
   *
   * @param ids gives each command its number
   * @param manager the Manager's process, which stays the caller's; null if it can not be known
   * @param whenBroken told once the Manager has exited or broke the ring, and why; must have {@link
   *     #lose} called
   */
  RingCalls(
      String name,
      RingMemory memory,
      Epoch epoch,
      @Nullable PidFd manager,
      LongSupplier ids,
      Consumer<String> whenBroken) {
    this.memory = memory;
    this.requests = new RequestRing(memory, epoch);
    this.answers = new AnswerRing(memory, manager);
    this.ids = ids;
    this.whenBroken = whenBroken;
    this.turn = new Turn(this::turnIsFree);
    this.teller = new Teller(name, turn::isFree, this::driveFutures);
  }

  /** Whether this is the thread that completes futures. */
  boolean onTeller() {
    return teller.isCurrentThread();
  }

  /** A command whose answer completes its future; waits for room at most that long, ns. */
  RingCall start(Opcode opcode, byte[] descriptor, long scalar0, long scalar1, long roomNanos) {
    RingCall call = new RingCall(ids.getAsLong(), RingCall.Kind.FUTURE);
    try {
      submit(call, opcode, descriptor, scalar0, scalar1, System.nanoTime() + roomNanos);
    } catch (TransportException e) {
      call.future().completeExceptionally(e);
    }
    return call;
  }

  /**
   * As {@link #start}, for one that must be known to be in the ring or not.
   *
   * @throws SaveNotSubmitted if the command is proven not to be in the ring
   */
  RingCall open(Opcode opcode, byte[] descriptor, long scalar0, long scalar1, long roomNanos) {
    RingCall call = new RingCall(ids.getAsLong(), RingCall.Kind.FUTURE);
    try {
      submit(call, opcode, descriptor, scalar0, scalar1, System.nanoTime() + roomNanos);
    } catch (TransportException e) {
      if (call.submitted()) {
        throw e;
      }
      throw new SaveNotSubmitted(e);
    }
    return call;
  }

  /** A command whose answer nobody needs. Throws PEER_LOST, or DEADLINE if there was no room. */
  void send(Opcode opcode, long scalar0, long scalar1, long roomNanos) {
    RingCall call = new RingCall(ids.getAsLong(), RingCall.Kind.IGNORED);
    submit(call, opcode, new byte[0], scalar0, scalar1, System.nanoTime() + roomNanos);
  }

  /**
   * A command and its answer.
   *
   * @param late gets an answer that comes after the timeout, on the thread that completes futures;
   *     null if nobody needs it
   * @throws TransportException DEADLINE, CANCELLED if interrupted, PEER_LOST
   */
  Taken call(
      Opcode opcode,
      byte[] descriptor,
      long scalar0,
      long scalar1,
      Duration timeout,
      @Nullable Consumer<Taken> late) {
    long deadline = System.nanoTime() + timeout.toNanos();
    RingCall call = new RingCall(ids.getAsLong(), RingCall.Kind.WAITED_FOR);
    submit(call, opcode, descriptor, scalar0, scalar1, deadline);
    boolean interrupted = !await(call::over, deadline) && Thread.currentThread().isInterrupted();
    if (!call.over()) {
      leave(call, late);
    }
    Taken reply = call.reply();
    if (reply != null) {
      return reply;
    }
    TransportException fault = call.fault();
    if (fault != null) {
      throw new TransportException(fault.code(), String.valueOf(fault.getMessage()), fault);
    }
    throw interrupted
        ? new TransportException(FaultCode.CANCELLED, opcode + ": interrupted")
        : new TransportException(FaultCode.DEADLINE, opcode + ": no answer within " + timeout);
  }

  /** The connection is gone: what was answered is told so, the rest fails with that. */
  void lose(TransportException why) {
    lock.lock();
    try {
      if (lost == null) {
        lost = why;
      }
      if (closed) {
        return;
      }
      memory.answers().signal();
    } finally {
      lock.unlock();
    }
    turn.wakeAll();
    endIfLost();
  }

  /** Ends it for good and unmaps; to be called once, after {@link #lose}. */
  void close() {
    turn.close();
    requests.close();
    lock.lock();
    try {
      closed = true;
      memory.close();
    } finally {
      lock.unlock();
    }
    teller.close();
  }

  private void submit(
      RingCall call, Opcode opcode, byte[] descriptor, long scalar0, long scalar1, long deadline) {
    OwnProcess.check();
    outstanding.put(call.id(), call);
    boolean submitted = false;
    boolean opened = false;
    try {
      TransportException gone = lost;
      if (gone != null) {
        throw new TransportException(gone.code(), String.valueOf(gone.getMessage()), gone);
      }
      if (call.kind() == RingCall.Kind.FUTURE) {
        teller.opened();
        opened = true;
      }
      submitted =
          requests.offer(call, opcode, scalar0, scalar1, descriptor)
              || offerLater(call, opcode, descriptor, scalar0, scalar1, deadline);
      gone = lost;
      if (!submitted && gone != null) {
        throw new TransportException(gone.code(), String.valueOf(gone.getMessage()), gone);
      }
      if (!submitted) {
        throw new TransportException(
            FaultCode.DEADLINE, opcode + ": the Manager takes no more commands; is it stopped?");
      }
    } catch (IllegalStateException e) {
      // It was closed meanwhile.
      throw new TransportException(FaultCode.PEER_LOST, opcode + ": " + e.getMessage(), e);
    } finally {
      if (!submitted && outstanding.remove(call.id()) != null && opened) {
        teller.withdrawn();
      }
    }
    endIfLost();
  }

  /** Also if nobody waits: who drives sees it, or else it is done here. */
  private void endIfLost() {
    if (lost != null && turn.tryBegin()) {
      turn.during(this::endAll);
    }
  }

  private boolean offerLater(
      RingCall call, Opcode opcode, byte[] descriptor, long scalar0, long scalar1, long deadline) {
    requests.beginWaiting();
    forRoom.incrementAndGet();
    try {
      do {
        if (requests.offer(call, opcode, scalar0, scalar1, descriptor)) {
          return true;
        }
      } while (await(() -> requests.hasRoom(descriptor.length) || call.over(), deadline)
          && !call.over());
      return false;
    } finally {
      forRoom.decrementAndGet();
      requests.endWaiting();
    }
  }

  /** Waits, as the one who takes answers out if nobody else does; false at the deadline. */
  private boolean await(BooleanSupplier done, long deadline) {
    boolean parked = false;
    try {
      while (!done.getAsBoolean()) {
        long left = deadline - System.nanoTime();
        if (left <= 0 || Thread.currentThread().isInterrupted()) {
          return false;
        }
        if (parked ? turn.beginOrPark() : turn.tryBegin() || turn.beginOrPark()) {
          turn.during(() -> drive(done, deadline));
        } else if (!parked) {
          // Seen by who wakes from now on; what was done before is looked at once more.
          parked = true;
        } else {
          LockSupport.parkNanos(this, left);
        }
      }
      return true;
    } finally {
      if (parked) {
        turn.leave();
      }
    }
  }

  private void drive(BooleanSupplier done, long deadline) {
    BooleanSupplier over = () -> lost != null;
    boolean worked = true;
    while (true) {
      if (takeAll()) {
        worked = true;
        if (forRoom.get() > 0) {
          turn.wakeAll();
        }
      }
      if (lost != null) {
        endAll();
        return;
      }
      long left = deadline - System.nanoTime();
      if (done.getAsBoolean() || left <= 0 || Thread.currentThread().isInterrupted()) {
        return;
      }
      if (!worked || !answers.poll(over)) {
        if (!answers.sleep(left, () -> lost != null || done.getAsBoolean())) {
          var _ = takeAll();
          whenBroken.accept("its process has exited");
        }
        if (forRoom.get() > 0) {
          turn.wakeAll();
        }
      }
      worked = false;
    }
  }

  private boolean takeAll() {
    boolean some = false;
    try {
      for (Taken taken = answers.take(); taken != null; taken = answers.take()) {
        some = true;
        RingCall call = outstanding.remove(taken.command().requestId());
        if (call != null) {
          end(call, taken, null);
        }
      }
    } catch (TransportException | IllegalStateException e) {
      whenBroken.accept("its ring can not be read: " + e.getMessage());
    }
    return some;
  }

  /** By the one who drives: the last answers, and then no more. */
  private void endAll() {
    TransportException why = lost;
    if (why == null) {
      return;
    }
    var _ = takeAll();
    for (RingCall call : List.copyOf(outstanding.values())) {
      if (outstanding.remove(call.id()) != null) {
        end(call, null, why);
      }
    }
  }

  private void end(RingCall call, @Nullable Taken reply, @Nullable TransportException fault) {
    lock.lock();
    try {
      call.end(reply, fault);
      switch (call.kind()) {
        case WAITED_FOR -> {
          if (call.waiter() != Thread.currentThread()) {
            LockSupport.unpark(call.waiter());
          }
        }
        case FUTURE -> teller.ended(call);
        case IGNORED -> {}
      }
    } finally {
      lock.unlock();
    }
  }

  /** The thread that waited goes; what comes later is told to another, or nobody. */
  private void leave(RingCall call, @Nullable Consumer<Taken> late) {
    lock.lock();
    try {
      if (call.over()) {
        return;
      }
      if (late == null) {
        call.become(RingCall.Kind.IGNORED);
        return;
      }
      call.become(RingCall.Kind.FUTURE);
      teller.opened();
    } finally {
      lock.unlock();
    }
    var _ = call.future().thenAccept(late);
  }

  private void turnIsFree() {
    teller.look();
  }

  /** By the thread of the futures. */
  private void driveFutures(BooleanSupplier done) {
    if (turn.tryBegin()) {
      long deadline = System.nanoTime() + FOREVER_NANOS;
      turn.during(() -> drive(done, deadline));
    }
  }
}
