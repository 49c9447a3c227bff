package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.TcpStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Takes READ frames and words off a stream, several from one receive where they came together. It
 * is as large as the longest frame and never grows. One thread.
 */
final class FrameBuffer {
  private static final int START_BYTES = 8;

  private final TcpStream stream;
  private final MemorySegment bytes;
  private final Polling polling = new Polling();
  private long start;
  private long end;

  FrameBuffer(TcpStream stream, Arena arena) {
    this.stream = stream;
    this.bytes = arena.allocate(2L * Wire.MAX_READ_BYTES, Long.BYTES);
  }

  /**
   * Waits for the next frame and decodes it.
   *
   * @param poll whether it is likely to come so soon that it is polled for first
   * @return false if the stream ended between two frames
   * @throws ProtocolException if a frame is wrong, or the stream ended inside one
   */
  boolean next(ReadFrame frame, boolean poll) throws ProtocolException {
    if (!fill(START_BYTES, poll)) {
      if (end > start) {
        throw new ProtocolException(FaultCode.CORRUPT, "the stream ended inside a frame");
      }
      return false;
    }
    int length = ReadFrame.checkStart(bytes, start);
    if (!fill(length, false)) {
      throw new ProtocolException(FaultCode.CORRUPT, "the stream ended inside a frame");
    }
    frame.decode(bytes, start, length);
    start += length;
    return true;
  }

  /** Receives until so many bytes are there; false at the end of the stream. */
  private boolean fill(int wanted, boolean poll) {
    if (start == end) {
      start = 0;
      end = 0;
    } else if (bytes.byteSize() - start < wanted) {
      MemorySegment.copy(bytes, start, bytes, 0, end - start);
      end -= start;
      start = 0;
    }
    while (end - start < wanted) {
      long count = poll ? poll() : -1;
      if (count < 0) {
        count = stream.receive(bytes, end, bytes.byteSize() - end, false);
      }
      if (poll) {
        polling.found();
      }
      if (count == 0) {
        return false;
      }
      end += count;
    }
    return true;
  }

  /** As receive; -1 if nothing came in the time that is worth polling for. */
  private long poll() {
    long count;
    do {
      count = stream.receiveNow(bytes, end, bytes.byteSize() - end);
    } while (count < 0 && polling.again());
    return count;
  }

  /** Receives and forgets, until the end of the stream or so many bytes. */
  void discard(long most) {
    long left = most;
    long count;
    do {
      count = stream.receive(bytes, 0, bytes.byteSize(), false);
      left -= count;
    } while (count > 0 && left > 0);
  }
}
