package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.EventFd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Poll;
import io.orbitkv.ffm.Shutdown;
import io.orbitkv.ffm.TcpStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of the connections to a peer, and its successors after failures: {@code down -> connecting ->
 * up -> down}. READs are sent by whoever has one, under the lane's lock: so few of their bytes are
 * outstanding that a send never waits for the peer.
 *
 * <p>Replies are received, in the order of the READs, by whoever holds the receiving end: a thread
 * that waits for one of the tickets, so that nothing is handed from thread to thread, or else the
 * lane's own, started by the peer, which connects and ends the connection and otherwise sleeps.
 * Locks are taken in the order receiver, lock, peer.
 */
final class Lane implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Lane.class);

  /** READ frames whose replies have not ended: at most so many, and so many bytes of frames. */
  private static final int MAX_IN_FLIGHT = 64;

  private static final int MAX_FRAME_BYTES = 32 << 10;

  /** The kernel's room for them, well above the sum of what two full frames take. */
  private static final int SEND_BUFFER_BYTES = 256 << 10;

  /** After so long without a thread that waits for a reply, the lane's own receives it. */
  private static final long UNATTENDED_NANOS = 4_000_000;

  /** A thread that waits for bytes looks after so long whether it is to end that, ns. */
  private static final long LOOK_NANOS = 16_000_000;

  private final TcpPeer peer;
  private final Engine engine;
  private final ReplyReader replies;
  private final MemorySegment frame = Arena.ofAuto().allocate(Wire.MAX_READ_BYTES, Long.BYTES);
  private final Object lock = new Object();

  /** The rest down to the next comment is guarded by the lock. */
  private final EntryList entries = new EntryList();

  private final Deque<Part> inFlight = new ArrayDeque<>();
  private long inFlightBytes;
  private int inFlightFrameBytes;
  private boolean up;

  /** The receiving end of the stream; held while it is received from, and while it goes down. */
  private final ReentrantLock receiver = new ReentrantLock();

  private final Polling polling = new Polling();
  private final AtomicBoolean watched = new AtomicBoolean();
  private volatile @Nullable TcpStream stream;
  private volatile @Nullable String shutdownReason;
  private volatile @Nullable ProtocolException failure;
  private volatile @Nullable EventFd event;
  private volatile boolean asleep;
  private volatile boolean called;
  private volatile long lastByteNanos;
  private volatile long load;

  Lane(TcpPeer peer, Engine engine) {
    this.peer = peer;
    this.engine = engine;
    replies = new ReplyReader(this, engine, peer);
    heard();
  }

  /** Payload asked for and not received, bytes; about right at any time. */
  long load() {
    return load;
  }

  /** When the last byte came, by the engine's clock. */
  long lastByteNanos() {
    return lastByteNanos;
  }

  /** A byte came. */
  void heard() {
    lastByteNanos = engine.clock().getAsLong();
  }

  /** Whether a thread is receiving into this ticket's destination, or is about to. */
  boolean receives(TcpTicket ticket) {
    return replies.receives(ticket);
  }

  /** The part whose reply is due. */
  @Nullable Part oldest() {
    synchronized (lock) {
      return inFlight.peek();
    }
  }

  /** The reply to the oldest part has ended. */
  void replied(Part part) {
    synchronized (lock) {
      inFlight.remove();
      count(part, -1);
    }
  }

  /** Shows every part whose reply has not ended. */
  void forEachInFlight(BiConsumer<Lane, Part> visitor) {
    List<Part> parts;
    synchronized (lock) {
      parts = List.copyOf(inFlight);
    }
    parts.forEach(part -> visitor.accept(this, part));
  }

  /** Ends the connection, if there is one; its thread ends the parts in flight. */
  void shutdown(String reason) {
    TcpStream current = stream;
    if (current != null) {
      if (shutdownReason == null) {
        shutdownReason = reason;
      }
      try {
        current.shutdown(Shutdown.BOTH);
      } catch (IllegalStateException e) {
        // Its thread has closed it.
      }
    }
  }

  /**
   * Takes one part from the peer's queue and sends its READ; false if there is none, or no room.
   */
  boolean sendOne() {
    synchronized (lock) {
      TcpStream current = stream;
      // Not into what is being ended: the next connection takes it.
      if (current == null || !up || shutdownReason != null || !hasRoom()) {
        return false;
      }
      Part part = peer.nextPart(this, entries);
      if (part == null) {
        return false;
      }
      ImportedRegion source = part.ticket().source();
      int length =
          ReadFrame.write(
              frame, part.requestId(), source.grant(), source.token(), part.bytes(), entries);
      inFlight.add(part);
      count(part, 1);
      part.ticket().sentOn(this);
      try {
        current.sendFully(frame, 0, length);
      } catch (NativeException e) {
        shutdown("send failed: " + e.getMessage());
        return false;
      }
      engine.meters().requests().add(1);
      return true;
    }
  }

  private boolean hasRoom() {
    return inFlight.size() < 2
        || (inFlight.size() < MAX_IN_FLIGHT
            && inFlightBytes < engine.settings().windowBytes()
            && inFlightFrameBytes < MAX_FRAME_BYTES);
  }

  private void count(Part part, int sign) {
    inFlightBytes += sign * part.bytes();
    inFlightFrameBytes += sign * part.frameBytes();
    load = inFlightBytes;
    engine.meters().inFlight().add(sign);
  }

  /**
   * Sees to it that somebody receives what is in flight: at once, or if a thread is likely to come
   * and wait for it, when none has come.
   */
  void attend(boolean awaited) {
    // Whoever holds the receiver looks at what is in flight after having let go of it.
    if (load == 0 || receiver.isLocked()) {
      return;
    }
    Part oldest = oldest();
    if (oldest == null) {
      return;
    }
    if (!awaited || oldest.ticket().ended() || !oldest.ticket().isAtHome(this)) {
      call();
    } else if (watched.compareAndSet(false, true)) {
      engine.after(UNATTENDED_NANOS, this::look);
    }
  }

  private void look() {
    watched.set(false);
    Part oldest = oldest();
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
    if (receiver.isHeldByCurrentThread() || !receiver.tryLock()) {
      return;
    }
    try {
      TcpStream current = stream;
      if (current != null && failure == null) {
        receive(current, ticket, deadlineNanos);
      }
    } catch (ProtocolException e) {
      fail(e);
    } catch (NativeException e) {
      fail(new ProtocolException(FaultCode.PEER_LOST, String.valueOf(e.getMessage())));
    } catch (RuntimeException e) {
      log.error("orbitte-tcp fails to receive from {}", peer, e);
      fail(new ProtocolException(FaultCode.INTERNAL, "defect: " + e));
    } finally {
      polling.dropped();
      receiver.unlock();
    }
    passOn();
  }

  private void receive(TcpStream current, TcpTicket ticket, long deadlineNanos)
      throws ProtocolException {
    if (ticket.small()) {
      receiveSmall(current, ticket, deadlineNanos);
      return;
    }
    // One system call for a part, not one for what has just come.
    current.options().receiveTimeoutMillis(LOOK_NANOS / 1_000_000);
    try {
      while (goesOn(ticket, deadlineNanos - LOOK_NANOS)) {
        var _ = replies.step(current, ReplyReader.Wait.IN_TIME);
      }
    } finally {
      current.options().receiveTimeoutMillis(0);
    }
    receiveSmall(current, ticket, deadlineNanos);
  }

  /** Polls for the bytes if that pays, and waits outside of the destination otherwise. */
  private void receiveSmall(TcpStream current, TcpTicket ticket, long deadlineNanos)
      throws ProtocolException {
    while (goesOn(ticket, deadlineNanos)) {
      if (replies.step(current, ReplyReader.Wait.NONE)) {
        polling.found();
      } else if (!ticket.small() || !polling.again()) {
        long left = deadlineNanos - System.nanoTime();
        var _ = current.awaitReadable(Math.clamp(left, 0, LOOK_NANOS));
      }
    }
  }

  private boolean goesOn(TcpTicket ticket, long deadlineNanos) {
    return load > 0
        && !ticket.isSettled()
        && !Thread.currentThread().isInterrupted()
        && System.nanoTime() - deadlineNanos < 0;
  }

  /** The connection has ended; its own thread, which this wakes, does what is to be done. */
  private void fail(ProtocolException why) {
    failure = why;
    shutdown(why.line());
  }

  /** The caller receives no more: the next one that waits does, or the lane's own thread. */
  private void passOn() {
    if (load > 0 && !wakeNext()) {
      attend(peer.awaited());
    }
  }

  /** Wakes the thread that waits for the oldest part, to receive; false if there is none. */
  private boolean wakeNext() {
    Part oldest = oldest();
    return oldest != null && oldest.ticket().isAtHome(this) && oldest.ticket().wakeWaiting();
  }

  @Override
  public void run() {
    FaultCode code = FaultCode.PEER_LOST;
    String reason = "closed by the peer";
    TcpStream connected = null;
    try {
      event = EventFd.create();
      connected = connect();
      greet(connected);
      serve(connected);
    } catch (ProtocolException e) {
      code = e.code();
      reason = e.line();
    } catch (NativeException e) {
      reason = String.valueOf(e.getMessage());
    } catch (RuntimeException e) {
      code = FaultCode.INTERNAL;
      reason = "defect: " + e;
      log.error("orbitte-tcp fails to receive from {}", peer, e);
    } finally {
      down(connected, code, reason);
    }
  }

  private TcpStream connect() {
    int receiveBuffer = engine.settings().receiveBuffer();
    TcpStream connected =
        TcpStream.connect(
            peer.address(),
            null,
            Engine.CONNECT_MILLIS,
            options -> {
              options.sendBuffer(SEND_BUFFER_BYTES).sendTimeoutMillis(Engine.CONNECT_MILLIS);
              if (receiveBuffer > 0) {
                options.receiveBuffer(receiveBuffer);
              }
            });
    shutdownReason = null;
    stream = connected;
    return connected;
  }

  private void greet(TcpStream connected) throws ProtocolException {
    Congestion congestion = engine.configure(connected);
    if (peer.closed()) {
      throw new ProtocolException(FaultCode.CLOSING, "the peer object was closed");
    }
    engine.after(Engine.CONNECT_NANOS, () -> endUnlessUp(connected));
    Preface.exchange(connected, frame, engine.epoch(), peer.epoch());
    synchronized (lock) {
      up = true;
    }
    heard();
    engine.meters().outgoing().add(1);
    log.info("orbitte-tcp connection to {} up, congestion control {}", peer, congestion.inForce());
    peer.up(this);
  }

  private void endUnlessUp(TcpStream connected) {
    boolean waiting;
    synchronized (lock) {
      waiting = !up;
    }
    if (waiting && stream == connected) {
      shutdown("no preface came within " + Engine.CONNECT_MILLIS + " ms");
    }
  }

  /** Receives when it was called, or when the stream ends; sleeps otherwise. */
  private void serve(TcpStream connected) throws ProtocolException {
    Poll poll = new Poll(2);
    poll.add(connected.fd(), Poll.READ_HANGUP);
    EventFd wake = event;
    if (wake != null) {
      poll.add(wake.fd(), Poll.IN);
    }
    boolean ended = false;
    while (true) {
      called = false;
      receiver.lock();
      try {
        receive(connected, ended);
      } finally {
        receiver.unlock();
      }
      if (load > 0 && !wakeNext()) {
        continue;
      }
      asleep = true;
      ended = !called && poll.poll(-1) > 0 && poll.ready(0) != 0;
      asleep = false;
      if (wake != null) {
        wake.tryConsume();
      }
    }
  }

  /** Receives until nothing is in flight, or a thread waits for the next reply and can do so. */
  private void receive(TcpStream connected, boolean ended) throws ProtocolException {
    while (load > 0 || ended) {
      ProtocolException known = failure;
      if (known != null) {
        throw known;
      }
      Part oldest = oldest();
      boolean goesOn = ended || !replies.betweenReplies();
      if (!goesOn && oldest != null && oldest.ticket().isAwaitedAt(this)) {
        return;
      }
      var _ = replies.step(connected, ReplyReader.Wait.ENDLESS);
    }
  }

  /** The thread's last act. While it holds the receiver nobody is inside of a destination. */
  private void down(@Nullable TcpStream connected, FaultCode code, String observed) {
    List<Part> parts;
    String reason;
    boolean wasUp;
    EventFd wake = event;
    receiver.lock();
    try {
      synchronized (lock) {
        reason = shutdownReason == null ? observed : shutdownReason;
        wasUp = up;
        up = false;
        stream = null;
        parts = new ArrayList<>(inFlight);
        inFlight.clear();
        parts.forEach(part -> count(part, -1));
      }
      replies.reset();
      failure = null;
      event = null;
      called = false;
      if (connected != null) {
        connected.close();
      }
    } finally {
      receiver.unlock();
    }
    if (wake != null) {
      wake.close();
    }
    if (wasUp) {
      engine.meters().outgoing().add(-1);
    }
    if (!peer.closed()) {
      engine.meters().failures().add(1);
    }
    log.info("orbitte-tcp connection to {} down: {}", peer, reason);
    String message = "connection to " + peer + ": " + reason;
    // From here on the lane may have its next thread. Only then do the tickets hear, so that a read
    // that follows an outcome connects again instead of joining what has failed.
    List<TcpTicket> waiting = peer.down(this);
    parts.forEach(part -> part.ticket().fail(code, message));
    waiting.forEach(ticket -> ticket.fail(code, message));
    peer.pump();
    peer.attend(peer.awaited());
  }
}
