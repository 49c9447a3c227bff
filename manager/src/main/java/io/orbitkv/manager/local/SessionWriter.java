package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.ffm.NativeException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the answers of one session, in order, on a thread of its own, so that a client that does
 * not read holds up nobody else. Closes the channel when it ends.
 */
final class SessionWriter {
  private record Answer(
      FrameKind kind, long requestId, MemorySegment body, @Nullable Runnable whenDropped) {}

  private static final Logger LOG = LoggerFactory.getLogger(SessionWriter.class);
  private static final long ROOM_BYTES = 8L << 20;

  private final FrameChannel channel;
  private final Runnable whenEnded;
  private final ArrayDeque<Answer> queue = new ArrayDeque<>();
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

  /**
   * Queues an answer.
   *
   * @param whenDropped runs if it was not sent whole, so that the client, who drops what is not
   *     whole, was never told; null if nobody cares
   */
  void answer(FrameKind kind, long requestId, MemorySegment body, @Nullable Runnable whenDropped) {
    synchronized (this) {
      if (!broken && !ending) {
        queue.add(new Answer(kind, requestId, body, whenDropped));
        queuedBytes += body.byteSize();
        notifyAll();
        return;
      }
    }
    if (whenDropped != null) {
      whenDropped.run();
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
    Answer answer = next();
    try {
      while (answer != null) {
        channel.send(answer.kind(), answer.requestId(), answer.body());
        answer = next();
      }
    } catch (NativeException e) {
      LOG.debug("session: sending failed, the client is gone: {}", e.getMessage());
    } catch (RuntimeException e) {
      LOG.error("session: an answer can not be sent, so the session ends", e);
    } finally {
      // Still set only if its send failed.
      drop(answer);
      channel.close();
      whenEnded.run();
    }
  }

  private synchronized @Nullable Answer next() {
    while (queue.isEmpty() && !ending && !broken) {
      try {
        wait();
      } catch (InterruptedException _) {
        broken = true; // nobody interrupts this thread but to end it
      }
    }
    Answer answer = broken ? null : queue.poll();
    if (answer != null) {
      queuedBytes -= answer.body().byteSize();
      notifyAll();
    }
    return answer;
  }

  private void drop(@Nullable Answer failed) {
    List<Answer> dropped = new ArrayList<>();
    if (failed != null) {
      dropped.add(failed);
    }
    synchronized (this) {
      broken = true;
      dropped.addAll(queue);
      queue.clear();
      queuedBytes = 0;
      notifyAll();
    }
    for (Answer answer : dropped) {
      Runnable whenDropped = answer.whenDropped();
      if (whenDropped != null) {
        whenDropped.run();
      }
    }
  }
}
