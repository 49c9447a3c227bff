package io.orbitkv.provider.tcp;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The replies of one source hold that were sent by reference (sendfile), and may still be read from
 * it by a kernel. The call's return proves nothing, nor does an acknowledgement by TCP, a lost
 * connection or time: only the requester's word ends a reference.
 *
 * <pre>
 *              +--word by the same connection-----------------------------+
 * referred ----+--word by another--> said ----that connection was reset---+--> ended
 *              +--its connection was reset here--> reset --word, by any---+
 * </pre>
 *
 * A word that comes by the connection of the reply carries the acknowledgement of its last byte.
 * One that comes by another says that the requester has closed its end of the connection; then this
 * end has to be reset as well, which makes the kernel drop what it has queued. Thread-safe.
 */
final class SourceReferences {
  /** Words that came before their READ was answered are kept, the last so many. */
  private static final int EARLY = 1_024;

  private static final class Reference {
    final ReplyConnection connection;
    boolean said;
    boolean reset;

    Reference(ReplyConnection connection) {
      this.connection = connection;
    }

    boolean ended() {
      return said && reset;
    }
  }

  private final ReferenceBudget budget;
  private final long bytes;

  /** Guarded by this, by request id. */
  private final Map<Long, Reference> open = new HashMap<>();

  private final Set<Long> early = new LinkedHashSet<>();
  private boolean any;

  /**
   * None yet.
   *
   * @param bytes what stays pinned while there is one
   */
  SourceReferences(ReferenceBudget budget, long bytes) {
    this.budget = budget;
    this.bytes = bytes;
  }

  /**
   * Notes, before the first byte is sent, that a reply goes by reference; only inside the gate.
   *
   * @return false if it must not: the budget is used up, the requester has said its word already,
   *     or the id is in use
   */
  synchronized boolean add(long requestId, ReplyConnection connection) {
    if (early.remove(requestId) || open.containsKey(requestId)) {
      return false;
    }
    if (open.isEmpty() && !budget.take(bytes)) {
      return false;
    }
    open.put(requestId, new Reference(connection));
    any = true;
    return true;
  }

  /** The requester will read no more of a reply; it says so by this connection. */
  void said(long requestId, ReplyConnection connection) {
    Reference left = end(requestId, connection);
    if (left != null) {
      // The requester has closed it; that may not have been seen here.
      left.connection.shutdown();
    }
  }

  /** Ends a reference, or returns the one whose connection has to be reset for that. */
  private synchronized @Nullable Reference end(long requestId, ReplyConnection connection) {
    Reference reference = open.get(requestId);
    if (reference == null) {
      early.add(requestId);
      if (early.size() > EARLY) {
        early.remove(early.iterator().next());
      }
      return null;
    }
    reference.said = true;
    if (!reference.connection.equals(connection) && !reference.reset) {
      return reference;
    }
    open.remove(requestId);
    giveBack();
    return null;
  }

  /** A connection was reset here, and its thread sends no more. */
  synchronized void reset(ReplyConnection connection) {
    boolean ended = false;
    for (var each = open.values().iterator(); each.hasNext(); ) {
      Reference reference = each.next();
      reference.reset |= reference.connection.equals(connection);
      if (reference.ended()) {
        each.remove();
        ended = true;
      }
    }
    if (ended) {
      giveBack();
    }
  }

  private void giveBack() {
    if (open.isEmpty()) {
      budget.giveBack(bytes);
    }
  }

  /** Whether a reply that went by this connection is still referred to. */
  synchronized boolean refersTo(ReplyConnection connection) {
    return open.values().stream().anyMatch(reference -> reference.connection.equals(connection));
  }

  /** Whether every word has come. */
  synchronized boolean ended() {
    return open.isEmpty();
  }

  /** What it knows, for a message. */
  @Override
  public synchronized String toString() {
    StringBuilder text = new StringBuilder("words wanted on ");
    open.forEach(
        (id, reference) ->
            text.append(id)
                .append(reference.said ? " (said, connection not reset)" : "")
                .append(reference.reset ? " (connection reset)" : "")
                .append(", "));
    return text.append("ahead of their READs: ")
        .append(early)
        .append(", any: ")
        .append(any)
        .toString();
  }

  /** Whether there ever was one. */
  synchronized boolean any() {
    return any;
  }
}
