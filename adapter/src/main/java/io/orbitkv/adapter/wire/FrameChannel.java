package io.orbitkv.adapter.wire;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Poll;
import io.orbitkv.ffm.UnixStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Frames over one Unix socket, which it owns. Any thread may send; one thread receives. Closing it
 * is the owner's; {@link #shutdown()} from any thread ends a stuck call.
 */
public final class FrameChannel implements AutoCloseable {
  private static final int STAGE_BYTES = 64 << 10;

  private final UnixStream stream;
  private final ReentrantLock sending = new ReentrantLock();
  private final MemorySegment outgoing = Arena.ofAuto().allocate(STAGE_BYTES, 8);
  private final MemorySegment incoming = Arena.ofAuto().allocate(STAGE_BYTES, 8);
  private volatile Epoch epoch = Epoch.NONE;
  private volatile long session;
  private long receiveDeadline;
  private boolean deadlineSet;

  /** Takes the stream over. */
  public FrameChannel(UnixStream stream) {
    this.stream = stream;
  }

  /** From now on every frame that is sent carries these. */
  public void identify(Epoch managerEpoch, long sessionToken) {
    this.epoch = managerEpoch;
    this.session = sessionToken;
  }

  /** The socket. */
  public UnixStream stream() {
    return stream;
  }

  /**
   * Sends one frame.
   *
   * @param descriptors go with it; they stay the caller's
   * @throws NativeException if the connection is gone
   */
  public void send(FrameKind kind, long requestId, MemorySegment body, Fd... descriptors) {
    if (body.byteSize() > FrameHeader.BODY_LIMIT) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          kind + " frame of " + body.byteSize() + " bytes; the limit is " + FrameHeader.BODY_LIMIT);
    }
    FrameHeader header =
        new FrameHeader(
            Command.VERSION,
            kind.wire(),
            body.byteSize(),
            FrameHeader.MAGIC,
            descriptors.length,
            requestId,
            session,
            epoch);
    sending.lock();
    try {
      header.encode(outgoing);
      long first = Math.min(body.byteSize(), STAGE_BYTES - FrameHeader.BYTES);
      MemorySegment.copy(body, 0, outgoing, FrameHeader.BYTES, first);
      stream.sendFully(outgoing, 0, FrameHeader.BYTES + first, descriptors);
      for (long done = first; done < body.byteSize(); ) {
        long part = Math.min(body.byteSize() - done, STAGE_BYTES);
        MemorySegment.copy(body, done, outgoing, 0, part);
        stream.sendFully(outgoing, 0, part);
        done += part;
      }
    } finally {
      sending.unlock();
    }
  }

  /** A receive that begins or goes on after this moment of {@link System#nanoTime()} is refused. */
  public void receiveBy(long deadlineNanos) {
    receiveDeadline = deadlineNanos;
    deadlineSet = true;
  }

  /** Ends the effect of {@link #receiveBy}. */
  public void receiveWithoutDeadline() {
    deadlineSet = false;
  }

  /**
   * Receives the next frame.
   *
   * @param bodyLimit the longest body that is accepted, bytes
   * @return null at the end of the stream; a frame that did not arrive whole is dropped
   * @throws TransportException CORRUPT if the bytes are no frames, EXHAUSTED if the body is too
   *     long, DEADLINE; the stream is of no more use then
   * @throws NativeException if the connection failed
   */
  public @Nullable Frame receive(int bodyLimit) {
    return receive(bodyLimit, _ -> {});
  }

  /**
   * As the other one, for a receiver that counts the memory of long frames.
   *
   * @param growing told, before more than 64 KiB are taken for a body, how many bytes it will have;
   *     may throw to refuse, and the stream is of no more use then
   */
  public @Nullable Frame receive(int bodyLimit, LongConsumer growing) {
    List<Fd> descriptors = new ArrayList<>();
    boolean whole = false;
    try {
      if (!fill(FrameHeader.BYTES, descriptors)) {
        return null;
      }
      FrameHeader header = FrameHeader.decode(incoming);
      check(header, bodyLimit);
      byte[] body = body((int) header.bodyBytes(), descriptors, growing);
      if (body == null) {
        return null;
      }
      if (descriptors.size() != header.descriptors()) {
        throw new TransportException(
            FaultCode.CORRUPT,
            "frame with "
                + descriptors.size()
                + " file descriptors that announces "
                + header.descriptors());
      }
      whole = true;
      return new Frame(header, MemorySegment.ofArray(body), List.copyOf(descriptors));
    } finally {
      if (!whole) {
        Frame.close(descriptors);
      }
    }
  }

  /** Ends both directions and a stuck call in either; may be repeated. */
  public void shutdown() {
    if (stream.fd().isOpen()) {
      try {
        stream.shutdown();
      } catch (IllegalStateException _) {
        return; // closed meanwhile, which ends calls as well
      }
    }
  }

  @Override
  public void close() {
    stream.close();
  }

  private static void check(FrameHeader header, int bodyLimit) {
    if (header.magic() != FrameHeader.MAGIC) {
      throw new TransportException(
          FaultCode.CORRUPT, "bytes that are no frame of OrbitKV's same-host channel");
    }
    if (header.bodyBytes() > bodyLimit) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          "frame of " + header.bodyBytes() + " bytes; the limit is " + bodyLimit);
    }
  }

  /** Room grows with what arrived, not with what was announced; null at the end of the stream. */
  private byte @Nullable [] body(int bytes, List<Fd> descriptors, LongConsumer growing) {
    byte[] body = new byte[Math.min(bytes, STAGE_BYTES)];
    int done = 0;
    while (done < bytes) {
      if (done == body.length) {
        int larger = (int) Math.min(bytes, 2L * done);
        growing.accept(larger);
        body = java.util.Arrays.copyOf(body, larger);
      }
      int part = Math.min(STAGE_BYTES, body.length - done);
      if (!fill(part, descriptors)) {
        return null;
      }
      MemorySegment.copy(incoming, 0, MemorySegment.ofArray(body), done, part);
      done += part;
    }
    return body;
  }

  private boolean fill(int bytes, List<Fd> descriptors) {
    if (!deadlineSet) {
      return stream.receiveFully(incoming, 0, bytes, descriptors) == bytes;
    }
    Poll poll = new Poll(1);
    var _ = poll.add(stream.fd(), Poll.IN);
    for (int done = 0; done < bytes; ) {
      long left = receiveDeadline - System.nanoTime();
      if (left <= 0 || poll.poll(left) == 0) {
        throw new TransportException(FaultCode.DEADLINE, "no whole frame arrived in time");
      }
      long count = stream.receive(incoming, done, bytes - done, descriptors);
      if (count == 0) {
        return false;
      }
      done += (int) count;
    }
    return true;
  }
}
