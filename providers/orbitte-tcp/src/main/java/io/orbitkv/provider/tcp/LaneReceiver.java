package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.EventFd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Poll;
import io.orbitkv.ffm.TcpStream;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The receiving end of one lane, and who holds it: a thread that waits for one of the tickets, so
 * that nothing is handed from thread to thread, or else the lane's own, which otherwise sleeps.
 *
 * <pre>
 * closed --serve--&gt; free &lt;--tryLock, unlock--&gt; held --it fails, or the stream ends--&gt; closed
 * </pre>
 *
 * No reply is left lying. A READ is counted in the load before {@link #attend} looks whether the
 * end is held, and whoever held it looks at the load after having let go of it: one of them sees
 * the other. Of a thread that was woken to receive the same is true: it does, or it calls {@code
 * attend} when it leaves, after it is no longer found waiting. A thread may leave inside a reply,
 * at its deadline or by an interrupt: what was received so far is kept by the {@link ReplyReader}.
 *
 * <p>Locks are taken in the order receiver, lane, peer. Only the lane's own thread waits for the
 * receiver, with no other lock in its hands; every other one tries.
 */
final class LaneReceiver {
  private static final Logger log = LoggerFactory.getLogger(LaneReceiver.class);

  /** After so long without a thread that waits for a reply, the lane's own receives it. */
  private static final long UNATTENDED_NANOS = 20_000_000;

  /** A thread that waits for bytes looks after so long whether it is to end that, ns. */
  private static final long LOOK_NANOS = 16_000_000;

  private final Lane lane;
  private final TcpPeer peer;
  private final Engine engine;
  private final ReplyReader replies;
  private final ReentrantLock receiver = new ReentrantLock();

  /** Guarded by the receiver, as are the replies and the next two. */
  private final Polling polling = new Polling();

  /**
   * What is received from; null while it is not up, and from its first fault on. That is set before
   * the receiver is let go of: behind a wrong reply nobody takes the next one for sound.
   */
  private @Nullable LaneConnection open;

  /** The fault that another thread met; the lane's own ends the connection with it. */
  private @Nullable ProtocolException failure;

  private final AtomicBoolean watched = new AtomicBoolean();
  private volatile @Nullable EventFd event;
  private volatile boolean asleep;
  private volatile boolean called;

  LaneReceiver(Lane lane, TcpPeer peer, Engine engine) {
    this.lane = lane;
    this.peer = peer;
    this.engine = engine;
    replies = new ReplyReader(lane, engine, peer);
  }

  /** Whether a thread is receiving into this ticket's destination, or is about to. */
  boolean receives(TcpTicket ticket) {
    return replies.receives(ticket);
  }

  /**
   * Sees to it that somebody receives what is in flight: at once, or if a thread is likely to come
   * and wait for it, when none has come.
   */
  void attend(boolean awaited) {
    // Whoever holds the receiver looks at what is in flight after having let go of it.
    if (lane.load() == 0 || receiver.isLocked()) {
      return;
    }
    Part oldest = lane.oldest();
    if (oldest == null) {
      return;
    }
    if (!awaited || oldest.ticket().ended() || !oldest.ticket().isAtHome(lane)) {
      call();
    } else if (watched.compareAndSet(false, true)) {
      engine.after(UNATTENDED_NANOS, this::look);
    }
  }

  private void look() {
    watched.set(false);
    Part oldest = lane.oldest();
    if (oldest == null || receiver.isLocked()) {
      return;
    }
    if (engine.clock().getAsLong() - oldest.sentNanos() < UNATTENDED_NANOS / 2) {
      attend(true);
    } else {
      peer.unattended();
      call();
    }
  }

  /** Wakes the lane's own thread, to receive what is in flight. */
  private void call() {
    // It says that it sleeps before it looks whether it was called: one of the two sees the other.
    called = true;
    EventFd current = event;
    if (asleep && current != null) {
      try {
        current.signal();
      } catch (IllegalStateException e) {
        // Its thread has closed it: nothing is in flight.
      }
    }
  }

  /**
   * Receives in the caller's thread until the ticket is settled, unless another thread receives; at
   * most until the deadline of System.nanoTime(), an interrupt, or the end of the connection.
   */
  void receiveFor(TcpTicket ticket, long deadlineNanos) {
    boolean told = true;
    // Who has let go to tell others goes on: nobody else knows that its own reply is still to come.
    while (told && isDue(ticket, deadlineNanos)) {
      // A callback that waits for another ticket has the receiver already, in the midst of a step.
      if (receiver.isHeldByCurrentThread() || !receiver.tryLock()) {
        return;
      }
      try {
        LaneConnection current = open;
        if (current != null) {
          receiveFor(current, ticket, deadlineNanos);
        }
      } finally {
        polling.dropped();
        told = unlockAndTell();
      }
    }
    passOn();
  }

  /** No callback runs under the receiver: it may be long, and others may want to receive. */
  private boolean unlockAndTell() {
    List<TcpTicket> settled = replies.takeSettled();
    receiver.unlock();
    if (settled.isEmpty()) {
      return false;
    }
    passOn();
    settled.forEach(TcpTicket::tell);
    return true;
  }

  private void receiveFor(LaneConnection current, TcpTicket ticket, long deadlineNanos) {
    try {
      receive(current.stream(), ticket, deadlineNanos);
    } catch (ProtocolException e) {
      fail(current, e);
    } catch (NativeException e) {
      fail(current, new ProtocolException(FaultCode.PEER_LOST, String.valueOf(e.getMessage())));
    } catch (RuntimeException e) {
      log.error("orbitte-tcp fails to receive from {}", peer, e);
      fail(current, new ProtocolException(FaultCode.INTERNAL, "defect: " + e));
    } catch (Error e) {
      // The stream is in the midst of a reply, and whoever waits for that one is not this thread.
      fail(current, new ProtocolException(FaultCode.INTERNAL, "defect: " + e));
      throw e;
    }
  }

  private void receive(TcpStream stream, TcpTicket ticket, long deadlineNanos)
      throws ProtocolException {
    if (ticket.small()) {
      receiveSmall(stream, ticket, deadlineNanos);
      return;
    }
    // One system call for a part, not one for what has just come.
    stream.options().receiveTimeoutMillis(LOOK_NANOS / 1_000_000);
    try {
      while (goesOn(ticket, deadlineNanos - LOOK_NANOS)) {
        var _ = replies.step(stream, ReplyReader.Wait.IN_TIME);
      }
    } finally {
      stream.options().receiveTimeoutMillis(0);
    }
    receiveSmall(stream, ticket, deadlineNanos);
  }

  /** Polls for the bytes if that pays, and waits outside of the destination otherwise. */
  private void receiveSmall(TcpStream stream, TcpTicket ticket, long deadlineNanos)
      throws ProtocolException {
    while (goesOn(ticket, deadlineNanos)) {
      if (replies.step(stream, ReplyReader.Wait.NONE)) {
        polling.found();
      } else if (!ticket.small() || !polling.again()) {
        long left = deadlineNanos - System.nanoTime();
        var _ = stream.awaitReadable(Math.clamp(left, 0, LOOK_NANOS));
      }
    }
  }

  private boolean goesOn(TcpTicket ticket, long deadlineNanos) {
    return !replies.hasSettled() && isDue(ticket, deadlineNanos);
  }

  private boolean isDue(TcpTicket ticket, long deadlineNanos) {
    return lane.load() > 0
        && !ticket.isSettled()
        && !Thread.currentThread().isInterrupted()
        && System.nanoTime() - deadlineNanos < 0;
  }

  /** The connection has ended; the lane's own thread, which this wakes, does what is to be done. */
  private void fail(LaneConnection current, ProtocolException why) {
    open = null;
    failure = why;
    current.shutdown(why.line());
  }

  /** The caller receives no more: the next one that waits does, or the lane's own thread. */
  private void passOn() {
    if (lane.load() > 0 && !wakeNext()) {
      attend(peer.awaited());
    }
  }

  /** Wakes the thread that waits for the oldest part, to receive; false if there is none. */
  private boolean wakeNext() {
    Part oldest = lane.oldest();
    return oldest != null && oldest.ticket().isAtHome(lane) && oldest.ticket().wakeWaiting();
  }

  /**
   * In the lane's own thread, once the connection is up: receives when it was called, or when the
   * stream ends; sleeps otherwise. It ends by a throw, and from then on no thread is inside of a
   * destination by this connection, nor can one get there.
   */
  void serve(LaneConnection connected) throws ProtocolException {
    try (EventFd wake = EventFd.create()) {
      event = wake;
      reset(connected);
      serve(connected.stream(), wake);
    } finally {
      reset(null);
      event = null;
      asleep = false;
    }
  }

  private void reset(@Nullable LaneConnection next) {
    receiver.lock();
    try {
      open = next;
      failure = null;
      replies.reset();
    } finally {
      receiver.unlock();
    }
  }

  private void serve(TcpStream stream, EventFd wake) throws ProtocolException {
    Poll poll = new Poll(2);
    poll.add(stream.fd(), Poll.READ_HANGUP);
    poll.add(wake.fd(), Poll.IN);
    boolean ended = false;
    while (true) {
      called = false;
      receiver.lock();
      try {
        receive(stream, ended);
      } catch (ProtocolException | RuntimeException | Error e) {
        open = null;
        throw e;
      } finally {
        unlockAndTell();
      }
      if (lane.load() > 0 && !wakeNext()) {
        continue;
      }
      asleep = true;
      ended = !called && poll.poll(-1) > 0 && poll.ready(0) != 0;
      asleep = false;
      var _ = wake.tryConsume();
    }
  }

  /** Receives until nothing is in flight, or a thread waits for the next reply and can do so. */
  private void receive(TcpStream stream, boolean ended) throws ProtocolException {
    while (lane.load() > 0 || ended) {
      ProtocolException known = failure;
      if (known != null) {
        throw known;
      }
      Part oldest = lane.oldest();
      boolean goesOn = ended || !replies.betweenReplies();
      if (!goesOn && oldest != null && oldest.ticket().isAwaitedAt(lane)) {
        return;
      }
      var _ = replies.step(stream, ReplyReader.Wait.ENDLESS);
      if (replies.hasSettled()) {
        return;
      }
    }
  }
}
