package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.IoVector;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Shutdown;
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
 * up -> down}. Its thread, started by the peer, connects, receives the replies in the order of the
 * READs, and ends when the connection does. READs are sent by whoever has one, under the lane's
 * lock: so few of their bytes are outstanding that a send never waits for the peer.
 */
final class Lane implements Runnable {
  private static final Logger log = LoggerFactory.getLogger(Lane.class);

  /** READ frames whose replies have not ended: at most so many, and so many bytes of frames. */
  private static final int MAX_IN_FLIGHT = 64;

  private static final int MAX_FRAME_BYTES = 32 << 10;

  /** The kernel's room for them, well above the sum of what two full frames take. */
  private static final int SEND_BUFFER_BYTES = 256 << 10;

  private static final int SCRATCH_BYTES = 64 << 10;

  private final TcpPeer peer;
  private final Engine engine;
  private final MemorySegment frame = Arena.ofAuto().allocate(Wire.MAX_READ_BYTES, Long.BYTES);
  private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_BYTES, Long.BYTES);
  private final IoVector ranges = new IoVector(IoVector.MAX_RANGES);
  private final ReplyHeader header = new ReplyHeader();
  private final Object lock = new Object();

  /** The rest down to the volatile ones is guarded by the lock. */
  private final EntryList entries = new EntryList();

  private final Deque<Part> inFlight = new ArrayDeque<>();
  private long inFlightBytes;
  private int inFlightFrameBytes;
  private boolean up;

  private volatile @Nullable TcpStream stream;
  private volatile @Nullable String shutdownReason;
  private volatile @Nullable TcpTicket receiving;
  private volatile long lastByteNanos;
  private volatile long load;

  Lane(TcpPeer peer, Engine engine) {
    this.peer = peer;
    this.engine = engine;
    lastByteNanos = engine.clock().getAsLong();
  }

  /** Payload asked for and not received, bytes; about right at any time. */
  long load() {
    return load;
  }

  /** When the last byte came, by the engine's clock. */
  long lastByteNanos() {
    return lastByteNanos;
  }

  /** Whether its thread is receiving into this ticket's destination, or is about to. */
  boolean receives(TcpTicket ticket) {
    return receiving == ticket;
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
      if (current == null || !up || !hasRoom()) {
        return false;
      }
      Part part = peer.nextPart(entries);
      if (part == null) {
        return false;
      }
      ImportedRegion source = part.ticket().source();
      int length =
          ReadFrame.write(
              frame, part.requestId(), source.grant(), source.token(), part.bytes(), entries);
      inFlight.add(part);
      count(part, 1);
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

  @Override
  public void run() {
    FaultCode code = FaultCode.PEER_LOST;
    String reason = "closed by the peer";
    TcpStream connected = null;
    try {
      connected = connect();
      greet(connected);
      receiveReplies(connected);
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
    engine.configure(connected);
    if (peer.closed()) {
      throw new ProtocolException(FaultCode.CLOSING, "the peer object was closed");
    }
    Preface.hello(engine.epoch(), peer.epoch()).write(scratch);
    connected.sendFully(scratch, 0, Wire.PREFACE_BYTES);
    engine.after(Engine.CONNECT_NANOS, () -> endUnlessUp(connected));
    if (connected.receive(scratch, 0, Wire.PREFACE_BYTES, true) < Wire.PREFACE_BYTES) {
      throw new ProtocolException(FaultCode.PEER_LOST, "closed by the peer before its preface");
    }
    Preface theirs = Preface.read(scratch);
    theirs.checkCompatible();
    if (theirs.refused()) {
      throw new ProtocolException(theirs.fault(), "connection refused: " + theirs.fault());
    }
    if (!theirs.sender().equals(peer.epoch()) || !theirs.expected().equals(engine.epoch())) {
      throw new ProtocolException(
          FaultCode.STALE_EPOCH, "the peer answers with transport epoch " + theirs.sender());
    }
    synchronized (lock) {
      up = true;
    }
    lastByteNanos = engine.clock().getAsLong();
    engine.meters().outgoing().add(1);
    log.info("orbitte-tcp connection to {} up", peer);
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

  private void receiveReplies(TcpStream connected) throws ProtocolException {
    while (true) {
      long count = connected.receive(scratch, 0, Wire.REPLY_HEADER_BYTES, true);
      if (count == 0) {
        return;
      }
      if (count < Wire.REPLY_HEADER_BYTES) {
        throw new ProtocolException(FaultCode.PEER_LOST, "the stream ended inside a reply");
      }
      lastByteNanos = engine.clock().getAsLong();
      header.decode(scratch, peer.epoch());
      if (header.kind() == Wire.KIND_END) {
        throw new ProtocolException(header.fault(), "ended by the peer: " + header.fault());
      }
      Part part;
      synchronized (lock) {
        part = inFlight.peek();
      }
      if (part == null || part.requestId() != header.requestId()) {
        throw new ProtocolException(
            FaultCode.CORRUPT, "a reply to request " + header.requestId() + ", which is not due");
      }
      receiveReply(connected, part);
      peer.pump(this);
    }
  }

  private void receiveReply(TcpStream connected, Part part) throws ProtocolException {
    boolean whole = false;
    if (header.kind() == Wire.KIND_DATA) {
      if (header.payloadBytes() != part.bytes()) {
        throw new ProtocolException(
            FaultCode.CORRUPT,
            "a reply of " + header.payloadBytes() + " bytes to a READ of " + part.bytes());
      }
      whole = receivePayload(connected, part);
    }
    synchronized (lock) {
      inFlight.remove();
      count(part, -1);
    }
    if (whole) {
      part.ticket().completed(part);
    } else if (header.kind() == Wire.KIND_REFUSED) {
      part.ticket().fail(header.fault(), "READ refused by " + peer + ": " + header.fault());
    }
  }

  /** Receives a payload, entering the destination for each call; false if it went to scratch. */
  private boolean receivePayload(TcpStream connected, Part part) throws ProtocolException {
    TcpTicket ticket = part.ticket();
    long left = part.bytes();
    boolean filled = false;
    while (left > 0) {
      long count;
      // Before the entry, so that whoever ends the ticket and finds it not drained finds this.
      receiving = ticket;
      if (!ticket.enter()) {
        receiving = null;
        ranges.clear();
        discard(connected, left);
        return false;
      }
      try {
        if (!filled) {
          ranges.clear();
          ticket.fill(ranges, part);
          filled = true;
        }
        count = connected.receiveVector(ranges, false);
      } finally {
        ticket.leave();
        receiving = null;
      }
      left -= received(count);
      engine.meters().receivedBytes().add(count);
    }
    ranges.clear();
    return true;
  }

  /** Reads an abandoned reply to its end. */
  private void discard(TcpStream connected, long bytes) throws ProtocolException {
    long left = bytes;
    while (left > 0) {
      long count = connected.receive(scratch, 0, Math.min(left, SCRATCH_BYTES), false);
      left -= received(count);
      engine.meters().discardedBytes().add(count);
    }
  }

  private long received(long count) throws ProtocolException {
    if (count == 0) {
      throw new ProtocolException(FaultCode.PEER_LOST, "the stream ended inside a reply");
    }
    lastByteNanos = engine.clock().getAsLong();
    return count;
  }

  /** The thread's last act: it is inside no destination any more. */
  private void down(@Nullable TcpStream connected, FaultCode code, String observed) {
    List<Part> parts;
    String reason;
    boolean wasUp;
    synchronized (lock) {
      reason = shutdownReason == null ? observed : shutdownReason;
      wasUp = up;
      up = false;
      stream = null;
      parts = new ArrayList<>(inFlight);
      inFlight.clear();
      parts.forEach(part -> count(part, -1));
    }
    ranges.clear();
    if (connected != null) {
      connected.close();
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
  }
}
