package io.orbitkv.provider.tcp;

import io.orbitkv.ffm.Shutdown;
import io.orbitkv.ffm.TcpStream;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a lane, and why this side ended it, if it did. The two are one object so that a
 * thread that is late to end a connection ends that one, and never marks its successor. Made and
 * closed by the lane's thread; {@link #shutdown} is for any.
 */
final class LaneConnection {
  private final TcpStream stream;
  private final AtomicReference<@Nullable String> ended = new AtomicReference<>();
  private @Nullable Congestion congestion;

  LaneConnection(TcpStream stream) {
    this.stream = stream;
  }

  TcpStream stream() {
    return stream;
  }

  /** Sets what every connection has; returns its congestion control. */
  Congestion configure(Engine engine) {
    Congestion chosen = engine.configure(stream);
    congestion = chosen;
    return chosen;
  }

  /** Ends what goes through it; the first reason stays. Repeatable, also after it was closed. */
  void shutdown(String reason) {
    ended.compareAndSet(null, reason);
    try {
      stream.shutdown(Shutdown.BOTH);
    } catch (IllegalStateException e) {
      // Its thread has closed it.
    }
  }

  /** Whether this side has begun to end it. */
  boolean ending() {
    return ended.get() != null;
  }

  /** Why it ended: what this side said when it did that, else what its thread observed. */
  String reason(String observed) {
    String own = ended.get();
    return own == null ? observed : own;
  }

  void close() {
    if (congestion != null) {
      congestion.uncount();
    }
    stream.close();
  }
}
