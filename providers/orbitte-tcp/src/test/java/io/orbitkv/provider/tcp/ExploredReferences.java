package io.orbitkv.provider.tcp;

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

/**
 * What the kernel still refers to of a source whose replies are sent by reference, and what the
 * owner knows of that. The product has no such way to send: these are the rules for one, beside the
 * real gate.
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

  private final boolean[] entered = new boolean[2];
  private final boolean[] said = new boolean[2];

  /** Of all sends: handed over, notifications in the error queue, notifications read. */
  private int sent;

  private int waiting;
  private int notified;
  private boolean peerClosed;
  private boolean silent;

  ExploredReferences(Mode mode, Predicate<String> rules) {
    this.mode = mode;
    this.rules = rules;
  }

  Mode mode() {
    return mode;
  }

  void entered(int read) {
    entered[read] = true;
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

  void peerClosed() {
    purge();
    peerClosed = true;
  }

  void readErrors() {
    notified += waiting;
    waiting = 0;
  }

  void closed() {
    waiting = 0;
  }

  boolean said(int read) {
    return said[read];
  }

  /** The requester's word that it has read this reply to its end. */
  void say(int read) {
    said[read] = true;
  }

  /** Whether the requester is frozen or dead. */
  void silent(boolean now) {
    silent = now;
  }

  /** Whether the owner may take the kernel to be done with the source, nobody being inside. */
  boolean evidence() {
    return switch (mode) {
      case COPY -> true;
      case ZEROCOPY -> !rules.test("zerocopy_notified") || notified == sent;
      case SENDFILE ->
          !rules.test("sendfile_word")
              || peerClosed
              || words()
              || (silent && !rules.test("silence_is_quarantine"));
    };
  }

  private boolean words() {
    boolean all = (said[0] || !entered[0]) && (said[1] || !entered[1]);
    return all || (!rules.test("word_for_every_read") && (said[0] || said[1]));
  }

  /** Of the counts only what is missing decides. */
  List<Object> fingerprint() {
    boolean lost = sent - notified > queued[0] + queued[1] + waiting;
    return List.of(
        mode,
        queued[0],
        queued[1],
        entered[0],
        entered[1],
        said[0],
        said[1],
        waiting > 0,
        lost,
        peerClosed,
        silent);
  }
}
