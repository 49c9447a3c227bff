package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.spi.Meters.Gauge;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.TcpStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of the connections to a peer, and its successors after failures: {@code down -> connecting ->
 * up -> down}. READs are sent by whoever has one, under the lane's lock: so few of their bytes are
 * outstanding that a send never waits for the peer. Its own thread, started by the peer, connects,
 * serves the {@link LaneReceiver} and ends the connection. Locks are taken in the order receiver,
 * lock, peer.
 */
final class Lane implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Lane.class);

  /** READ frames whose replies have not ended: at most so many, and so many bytes of frames. */
  private static final int MAX_IN_FLIGHT = 64;

  private static final int MAX_FRAME_BYTES = 32 << 10;

  /** The kernel's room for them, well above the sum of what two full frames take. */
  private static final int SEND_BUFFER_BYTES = 256 << 10;

  private final TcpPeer peer;
  private final Engine engine;
  private final boolean forSmall;
  private final LaneReceiver receiver;
  private final MemorySegment frame =
      Arena.ofAuto().allocate(LaneWords.MOST * Wire.WORD_BYTES + Wire.MAX_READ_BYTES, Long.BYTES);
  private final Object lock = new Object();

  /** The rest down to the next comment is guarded by the lock. */
  private final EntryList entries = new EntryList();

  private final LaneWords words = new LaneWords();

  private final Deque<Part> inFlight = new ArrayDeque<>();
  private long inFlightBytes;
  private int inFlightFrameBytes;
  private boolean up;

  /** Set by the lane's thread. */
  private volatile @Nullable LaneConnection connection;

  private volatile long lastByteNanos;
  private volatile long load;

  /** A lane that is down; {@code forSmall} if small tickets have it for themselves. */
  Lane(TcpPeer peer, Engine engine, boolean forSmall) {
    this.peer = peer;
    this.engine = engine;
    this.forSmall = forSmall;
    receiver = new LaneReceiver(this, peer, engine);
    heard();
  }

  /** Whether small tickets have it for themselves, as long as the others have one that is up. */
  boolean forSmall() {
    return forSmall;
  }

  /** What it sends on and receives from; null between two connections. */
  @Nullable LaneConnection connection() {
    return connection;
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
    return receiver.receives(ticket);
  }

  /** The part whose reply is due. */
  @Nullable Part oldest() {
    synchronized (lock) {
      return inFlight.peek();
    }
  }

  /** The reply to the oldest part has ended; whether the owner wants a word on it. */
  void replied(Part part, boolean wordWanted) {
    synchronized (lock) {
      inFlight.remove();
      words.replied(part, wordWanted);
      count(part, -1);
    }
  }

  /** Whether the owner of this connection has said that it may ask for words. */
  boolean mayBeAsked() {
    synchronized (lock) {
      return words.wanted();
    }
  }

  /** Says the words that no READ has taken along. */
  void sayWords() {
    synchronized (lock) {
      LaneConnection current = connection;
      int length = words.write(frame);
      if (length == 0 || current == null) {
        return;
      }
      try {
        current.stream().sendFully(frame, 0, length);
      } catch (NativeException e) {
        current.shutdown("send failed: " + e.getMessage());
      }
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
    LaneConnection current = connection;
    if (current != null) {
      current.shutdown(reason);
    }
  }

  /**
   * Takes one part from the peer's queue and sends its READ; false if there is none, or no room.
   */
  boolean sendOne() {
    synchronized (lock) {
      LaneConnection current = connection;
      // Not into what is being ended: the next connection takes it.
      if (current == null || !up || current.ending() || !hasRoom()) {
        return false;
      }
      Part part = peer.nextPart(this, entries);
      if (part == null) {
        return false;
      }
      ImportedRegion source = part.ticket().source();
      int start = words.write(frame);
      int length =
          ReadFrame.write(
              start == 0 ? frame : frame.asSlice(start),
              part.requestId(),
              source.grant(),
              source.token(),
              part.bytes(),
              entries);
      words.sent();
      inFlight.add(part);
      count(part, 1);
      part.ticket().sentOn(this);
      try {
        current.stream().sendFully(frame, 0, start + length);
      } catch (NativeException e) {
        current.shutdown("send failed: " + e.getMessage());
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

  /** The gauge of the lane's kind. */
  private Gauge purpose() {
    return forSmall ? engine.meters().outgoingSmall() : engine.meters().outgoingBulk();
  }

  /** As {@link LaneReceiver#attend}. */
  void attend(boolean awaited) {
    receiver.attend(awaited);
  }

  /** As {@link LaneReceiver#receiveFor}. */
  void receiveFor(TcpTicket ticket, long deadlineNanos) {
    receiver.receiveFor(ticket, deadlineNanos);
  }

  @Override
  public void run() {
    FaultCode code = FaultCode.PEER_LOST;
    String reason = "closed by the peer";
    LaneConnection connected = null;
    try {
      connected = connect();
      greet(connected);
      receiver.serve(connected);
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

  private LaneConnection connect() {
    int receiveBuffer = engine.settings().receiveBuffer();
    TcpStream stream =
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
    LaneConnection connected = new LaneConnection(stream);
    connection = connected;
    return connected;
  }

  private void greet(LaneConnection connected) throws ProtocolException {
    Congestion congestion = connected.configure(engine);
    // Once the connection is to be found: whoever closes the peer from here on ends it.
    if (peer.closed()) {
      throw new ProtocolException(FaultCode.CLOSING, "the peer object was closed");
    }
    engine.after(Engine.CONNECT_NANOS, () -> endUnlessUp(connected));
    int required = engine.settings().checksum() ? Wire.FEATURE_CHECKSUM : 0;
    Preface theirs =
        Preface.exchange(connected.stream(), frame, required, engine.epoch(), peer.epoch());
    synchronized (lock) {
      words.begin(theirs.has(Wire.FEATURE_WORDS));
      up = true;
    }
    heard();
    engine.meters().outgoing().add(1);
    purpose().add(1);
    congestion.count(engine.meters()::outgoingCongestion);
    log.info("orbitte-tcp connection to {} up, congestion control {}", peer, congestion.inForce());
    peer.up(this);
  }

  private void endUnlessUp(LaneConnection connected) {
    boolean waiting;
    synchronized (lock) {
      waiting = !up && connection == connected;
    }
    if (waiting) {
      connected.shutdown("no preface came within " + Engine.CONNECT_MILLIS + " ms");
    }
  }

  /** The thread's last act: no thread receives by the connection any more. */
  private void down(@Nullable LaneConnection connected, FaultCode code, String observed) {
    List<Part> parts;
    List<Word> left;
    boolean wasUp;
    synchronized (lock) {
      wasUp = up;
      up = false;
      connection = null;
      parts = new ArrayList<>(inFlight);
      left = words.end(parts);
      inFlight.clear();
      parts.forEach(part -> count(part, -1));
    }
    String reason = observed;
    if (connected != null) {
      reason = connected.reason(observed);
      connected.close();
    }
    // Behind the close, which is what they tell, and before anything that can fail.
    peer.words().owe(left);
    if (wasUp) {
      engine.meters().outgoing().add(-1);
      purpose().add(-1);
    }
    if (!peer.closed()) {
      engine.meters().failures().add(1);
    }
    log.info("orbitte-tcp connection to {} down: {}", peer, reason);
    String message = "connection to " + peer + ": " + reason;
    // From here on the lane may have its next thread. Only then do the tickets hear, so that a read
    // that follows an outcome connects again instead of joining what has failed.
    List<TcpTicket> waiting = List.of();
    try {
      waiting = peer.down(this);
    } finally {
      // Also where there is no thread for the next connection.
      parts.forEach(part -> part.ticket().fail(code, message));
      waiting.forEach(ticket -> ticket.fail(code, message));
    }
    peer.pump();
    peer.attend(peer.awaited());
  }
}
