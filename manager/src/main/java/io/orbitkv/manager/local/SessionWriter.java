package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.ffm.NativeException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the frames of one session, in order, on a thread of its own, so that a client that does not
 * read holds up nobody else. Closes the channel when it ends.
 */
final class SessionWriter {
  private record Outgoing(FrameKind kind, long requestId, MemorySegment body) {}

  private static final Logger LOG = LoggerFactory.getLogger(SessionWriter.class);
  private static final long ROOM_BYTES = 8L << 20;

  private final FrameChannel channel;
  private final Runnable whenEnded;
  private final ArrayDeque<Outgoing> queue = new ArrayDeque<>();
  private final Thread thread;
  private long queuedBytes;
  private boolean ending;
  private boolean broken;

  /**
   * Not started yet.
   *
   * @param whenEnded runs on the writer's thread once the channel is closed
   */
  SessionWriter(FrameChannel channel, String name, Runnable whenEnded) {
    this.channel = channel;
    this.whenEnded = whenEnded;
    this.thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** Queues a frame; it is dropped once the session ends. */
  synchronized void answer(FrameKind kind, long requestId, MemorySegment body) {
    if (!broken && !ending) {
      queue.add(new Outgoing(kind, requestId, body));
      queuedBytes += body.byteSize();
      notifyAll();
    }
  }

  /** Waits while the client leaves too many answers unread. */
  synchronized void awaitRoom() throws InterruptedException {
    while (queuedBytes > ROOM_BYTES && !broken) {
      wait();
    }
  }

  /** Ends once everything queued is sent. */
  synchronized void end() {
    ending = true;
    notifyAll();
  }

  /** Ends now: what is queued is dropped, a stuck send is ended. */
  void abandon() {
    synchronized (this) {
      broken = true;
      notifyAll();
    }
    channel.shutdown();
  }

  private void run() {
    try {
      for (Outgoing frame = next(); frame != null; frame = next()) {
        channel.send(frame.kind(), frame.requestId(), frame.body());
      }
    } catch (NativeException e) {
      LOG.debug("session: sending failed, the client is gone: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOG.error("session: an answer can not be sent, so the session ends", e);
    } finally {
      drop();
      channel.close();
      whenEnded.run();
    }
  }

  private synchronized @Nullable Outgoing next() {
    while (queue.isEmpty() && !ending && !broken) {
      try {
        wait();
      } catch (InterruptedException _) {
        broken = true; // nobody interrupts this thread but to end it
      }
    }
    Outgoing frame = broken ? null : queue.poll();
    if (frame != null) {
      queuedBytes -= frame.body().byteSize();
      notifyAll();
    }
    return frame;
  }

  private synchronized void drop() {
    broken = true;
    queue.clear();
    queuedBytes = 0;
    notifyAll();
  }
}
