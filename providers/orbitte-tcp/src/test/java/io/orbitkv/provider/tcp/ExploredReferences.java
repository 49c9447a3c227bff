package io.orbitkv.provider.tcp;

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * What the kernel still refers to of a source whose replies are sent by reference. What the owner
 * knows of that is simulated for MSG_ZEROCOPY, which the product does not use: these are the rules
 * for it, beside the real gate. For sendfile the real {@link SourceReferences} know it.
 */
final class ExploredReferences {
  enum Mode {
    /** Plain send: the kernel has copied when the call returns. */
    COPY,
    /** MSG_ZEROCOPY: it refers, and notifies. */
    ZEROCOPY,
    /** sendfile: it refers, and says nothing. */
    SENDFILE
  }

  private final Mode mode;
  private final Predicate<String> rules;

  /** Chunks of each reply that the kernel refers to. */
  private final int[] queued = new int[2];

  /** Of all sends: handed over, notifications in the error queue, notifications read. */
  private int sent;

  private int waiting;
  private int notified;

  ExploredReferences(Mode mode, Predicate<String> rules) {
    this.mode = mode;
    this.rules = rules;
  }

  Mode mode() {
    return mode;
  }

  /** A chunk of a reply is handed over; whose it is matters only to the requester's word. */
  void refer(int read) {
    queued[mode == Mode.SENDFILE ? read : 0]++;
    sent += mode == Mode.ZEROCOPY ? 1 : 0;
  }

  boolean queued(int read) {
    return queued[read] > 0;
  }

  /** Whether close would lose notifications. */
  boolean pending() {
    return queued[0] + queued[1] + waiting > 0;
  }

  boolean unread() {
    return waiting > 0;
  }

  void transmit(int read, boolean notify) {
    queued[read]--;
    waiting += mode == Mode.ZEROCOPY && notify ? 1 : 0;
  }

  /** The connection was reset: the kernel drops what it had queued. */
  void purge() {
    waiting += mode == Mode.ZEROCOPY ? queued[0] + queued[1] : 0;
    Arrays.fill(queued, 0);
  }

  void readErrors() {
    notified += waiting;
    waiting = 0;
  }

  void closed() {
    waiting = 0;
  }

  /** Whether the owner may ask for the receipt; with sendfile the hold itself knows. */
  boolean evidence() {
    return mode != Mode.ZEROCOPY || !rules.test("zerocopy_notified") || notified == sent;
  }

  /** Of the counts only what is missing decides. */
  List<Object> fingerprint() {
    boolean lost = sent - notified > queued[0] + queued[1] + waiting;
    return List.of(mode, queued[0], queued[1], waiting > 0, lost);
  }
}
