package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.IoVector;
import io.orbitkv.ffm.TcpStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the replies of one lane off its stream, a system call at a time, so that whoever waits for
 * one can take the next step. One thread at a time, the one that holds the lane's receiving end.
 */
final class ReplyReader {
  /** How long a step waits for bytes; where it waits, the thread may be inside a destination. */
  enum Wait {
    /** Not at all. */
    NONE,
    /** Until the receive timeout of the stream; a payload is received as a whole, if it comes. */
    IN_TIME,
    /** Until there are some. */
    ENDLESS
  }

  private static final int SCRATCH_BYTES = 64 << 10;

  private final Lane lane;
  private final Engine engine;
  private final TcpPeer peer;
  private final MemorySegment scratch = Arena.ofAuto().allocate(SCRATCH_BYTES, Long.BYTES);
  private final IoVector ranges = new IoVector(IoVector.MAX_RANGES);
  private final Destination.Pieces into = ranges::add;
  private final Checksum checksum = new Checksum();
  private final ReplyHeader header = new ReplyHeader();

  /** Bytes of a header that came so far. */
  private int headerBytes;

  /** Whose payload is being received, and how much of it is to come. */
  private @Nullable Part part;

  private long left;

  /** Bytes of the checksum behind it that came so far. */
  private int checksumBytes;

  private boolean wordWanted;
  private boolean filled;

  /** Settled by a step, and whoever waits by a callback was not told. */
  private final List<TcpTicket> settled = new ArrayList<>();

  private final Consumer<TcpTicket> later = settled::add;

  private volatile @Nullable TcpTicket receiving;

  ReplyReader(Lane lane, Engine engine, TcpPeer peer) {
    this.lane = lane;
    this.engine = engine;
    this.peer = peer;
  }

  /** Whether a thread is receiving into this ticket's destination, or is about to. */
  boolean receives(TcpTicket ticket) {
    return receiving == ticket;
  }

  /** Forgets what came of a stream that has ended. */
  void reset() {
    headerBytes = 0;
    checksumBytes = 0;
    part = null;
    filled = false;
    ranges.clear();
  }

  /** Whether there are tickets for {@link #takeSettled}. */
  boolean hasSettled() {
    return !settled.isEmpty();
  }

  /**
   * The tickets that were settled since this was called last. The caller tells each, when it holds
   * no lock any more: a callback goes on with its operation, and that may take its time.
   */
  List<TcpTicket> takeSettled() {
    if (settled.isEmpty()) {
      return List.of();
    }
    List<TcpTicket> taken = List.copyOf(settled);
    settled.clear();
    return taken;
  }

  /** Whether nothing of the next reply was received so far. */
  boolean betweenReplies() {
    return part == null && headerBytes == 0;
  }

  /**
   * Receives once.
   *
   * @return false if nothing came
   * @throws ProtocolException when the stream is at its end, or wrong
   */
  boolean step(TcpStream stream, Wait wait) throws ProtocolException {
    Part current = part;
    if (current == null) {
      return receiveHeader(stream, wait);
    }
    return left > 0
        ? receivePayload(stream, current, wait)
        : receiveChecksum(stream, current, wait);
  }

  private boolean receiveHeader(TcpStream stream, Wait wait) throws ProtocolException {
    int wanted = Wire.REPLY_HEADER_BYTES - headerBytes;
    long count = receive(stream, headerBytes, wanted, wait);
    if (count < 0) {
      return false;
    }
    if (count == 0 && headerBytes == 0) {
      throw new ProtocolException(FaultCode.PEER_LOST, "closed by the peer");
    }
    received(count);
    headerBytes += (int) count;
    if (headerBytes == Wire.REPLY_HEADER_BYTES) {
      headerBytes = 0;
      header.decode(scratch, peer.epoch());
      begin(lane.oldest());
    }
    return true;
  }

  private void begin(@Nullable Part due) throws ProtocolException {
    if (header.kind() == Wire.KIND_END) {
      if (header.fault() == FaultCode.CLOSING) {
        peer.words().ownerEnded();
      }
      throw new ProtocolException(header.fault(), "ended by the peer: " + header.fault());
    }
    if (due == null || due.requestId() != header.requestId()) {
      throw new ProtocolException(
          FaultCode.CORRUPT, "a reply to request " + header.requestId() + ", which is not due");
    }
    if (header.kind() == Wire.KIND_REFUSED) {
      lane.replied(due, false);
      String message = "READ refused by " + peer + ": " + header.fault();
      due.ticket().fail(header.fault(), message, later);
      peer.pump(lane);
      return;
    }
    if (header.wordWanted() && !lane.mayBeAsked()) {
      throw new ProtocolException(
          FaultCode.CORRUPT, "a word is asked for by an owner that did not offer to");
    }
    if (header.payloadBytes() != due.bytes()) {
      throw new ProtocolException(
          FaultCode.CORRUPT,
          "a reply of " + header.payloadBytes() + " bytes to a READ of " + due.bytes());
    }
    part = due;
    wordWanted = header.wordWanted();
    left = due.bytes();
    filled = false;
  }

  /** Receives once into the destination, which it enters for that, or into scratch. */
  private boolean receivePayload(TcpStream stream, Part current, Wait wait)
      throws ProtocolException {
    TcpTicket ticket = current.ticket();
    long count;
    // Before the entry, so that whoever ends the ticket and finds it not drained finds this.
    receiving = ticket;
    boolean entered = ticket.enter();
    if (entered) {
      try {
        count = receiveInto(stream, current, wait);
      } finally {
        ticket.leave(later);
        receiving = null;
      }
    } else {
      receiving = null;
      count = discard(stream, wait);
    }
    if (count < 0) {
      return false;
    }
    received(count);
    (entered ? engine.meters().receivedBytes() : engine.meters().discardedBytes()).add(count);
    left -= count;
    if (left == 0 && !engine.settings().checksum()) {
      end(current, entered);
    }
    return true;
  }

  /** Receives what follows the payload; compares, before the ticket can have its outcome. */
  private boolean receiveChecksum(TcpStream stream, Part current, Wait wait)
      throws ProtocolException {
    long count = receive(stream, checksumBytes, Wire.CHECKSUM_BYTES - checksumBytes, wait);
    if (count < 0) {
      return false;
    }
    received(count);
    checksumBytes += (int) count;
    if (checksumBytes == Wire.CHECKSUM_BYTES) {
      checksumBytes = 0;
      // Of an abandoned reply there is nothing to compare any more.
      boolean entered = current.ticket().enter();
      if (entered) {
        try {
          compare(current, Wire.i32(scratch, 0));
        } finally {
          current.ticket().leave(later);
        }
      }
      end(current, entered);
    }
    return true;
  }

  private void compare(Part current, int sent) throws ProtocolException {
    checksum.reset();
    current.ticket().forEachPiece(current, checksum);
    if (checksum.value() != sent || Wire.i32(scratch, 4) != 0) {
      throw new ProtocolException(
          FaultCode.CORRUPT,
          "the reply to request %d has CRC32C %08x, its source had %08x; something changes bytes on"
                  .formatted(current.requestId(), checksum.value(), sent)
              + " the way");
    }
  }

  /** A reply has ended; {@code entered} if it is in its ticket's destination. */
  private void end(Part current, boolean entered) {
    part = null;
    ranges.clear();
    lane.replied(current, wordWanted);
    if (wordWanted) {
      // Before its ticket ends: the owner needs it no later than the requester's Complete.
      peer.pump(lane);
      lane.sayWords();
    }
    if (entered) {
      current.ticket().completed(current, later);
    }
    peer.pump(lane);
  }

  private long receiveInto(TcpStream stream, Part current, Wait wait) {
    if (!filled) {
      ranges.clear();
      current.ticket().forEachPiece(current, into);
      filled = true;
    }
    return switch (wait) {
      case NONE -> stream.receiveVectorNow(ranges);
      case IN_TIME -> stream.receiveVectorInTime(ranges);
      case ENDLESS -> stream.receiveVector(ranges, false);
    };
  }

  /** Takes bytes of an abandoned reply, which is read to its end. */
  private long discard(TcpStream stream, Wait wait) {
    ranges.clear();
    return receive(stream, 0, Math.min(left, SCRATCH_BYTES), wait);
  }

  private long receive(TcpStream stream, long at, long most, Wait wait) {
    return switch (wait) {
      case NONE -> stream.receiveNow(scratch, at, most);
      case IN_TIME -> stream.receiveInTime(scratch, at, most);
      case ENDLESS -> stream.receive(scratch, at, most, false);
    };
  }

  private void received(long count) throws ProtocolException {
    if (count == 0) {
      throw new ProtocolException(FaultCode.PEER_LOST, "the stream ended inside a reply");
    }
    lane.heard();
  }
}
