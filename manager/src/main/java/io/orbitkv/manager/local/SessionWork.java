package io.orbitkv.manager.local;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;

/**
 * Counts what one session was promised an answer for, against the limits. Guarded by its session.
 */
final class SessionWork {
  /** What is counted apart. */
  enum Kind {
    /** A query. */
    QUERY,
    /** A publish. */
    PUBLISH,
    /** A lifecycle frame that is answered later. */
    LIFECYCLE
  }

  private final LocalLimits limits;
  private int queries;
  private int publishes;
  private int all;
  private long metadataBytes;

  SessionWork(LocalLimits limits) {
    this.limits = limits;
  }

  /**
   * Admits, or refuses without a side effect: INVALID what can never be admitted, EXHAUSTED what
   * can once an answer has come.
   */
  void admit(Kind kind, long bytes) {
    if (kind == Kind.QUERY && queries >= limits.queriesPerSession()) {
      throw exhausted(queries + " queries of this session are pending", "queries");
    }
    if (kind == Kind.PUBLISH && publishes >= limits.publishesPerSession()) {
      throw exhausted(publishes + " publishes of this session are pending", "publishes");
    }
    if (bytes > limits.metadataBytes()) {
      throw new TransportException(
          FaultCode.INVALID,
          "a command of "
              + bytes
              + " bytes is more than --command-bytes-per-session ever allows, "
              + limits.metadataBytes()
              + "; name fewer blocks at once, or raise it");
    }
    if (bytes > limits.metadataBytes() - metadataBytes) {
      throw exhausted(
          metadataBytes + " bytes of commands of this session are pending", "command-bytes");
    }
    all++;
    count(kind, 1, bytes);
  }

  /** Its place is free; {@link #ended()} follows. */
  void free(Kind kind, long bytes) {
    count(kind, -1, -bytes);
  }

  /** Its answer was given to the writer. */
  void ended() {
    all--;
  }

  /** Queries that are not answered yet. */
  int queries() {
    return queries;
  }

  boolean idle() {
    return all == 0;
  }

  private void count(Kind kind, int step, long bytes) {
    metadataBytes += bytes;
    switch (kind) {
      case QUERY -> queries += step;
      case PUBLISH -> publishes += step;
      case LIFECYCLE -> {}
    }
  }

  private static TransportException exhausted(String why, String limit) {
    return new TransportException(
        FaultCode.EXHAUSTED,
        why + "; wait for an answer first, or raise --" + limit + "-per-session");
  }
}
