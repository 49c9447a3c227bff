package io.orbitkv.provider.tcp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;

/**
 * The words that one connection of a lane owes its owner: on each reply by reference that was read
 * to its end. A word is kept until the owner has answered a READ that was sent behind it, since it
 * takes both in order; what is left when the connection ends has to be said by another. Guarded by
 * the lane's lock.
 */
final class LaneWords {
  /** Words that one send carries at most. */
  static final int MOST = 64;

  /** Said or still to be said, and not known to have come. */
  private final Deque<Word> kept = new ArrayDeque<>();

  /** Of all that were ever kept: how many, said of them, known to have come of them. */
  private long all;

  private long said;
  private long known;

  /** For each READ in flight, how many words were said before it. */
  private final Deque<Long> before = new ArrayDeque<>();

  private boolean wanted;

  /** A connection begins; whether its owner may ask for words. */
  void begin(boolean mayBeAsked) {
    wanted = mayBeAsked;
  }

  boolean wanted() {
    return wanted;
  }

  /** Writes what is to be said at the start of the buffer; its bytes, 0 if there is nothing. */
  int write(MemorySegment to) {
    if (all == said) {
      return 0;
    }
    int bytes = 0;
    long skip = said - known;
    for (Word word : kept) {
      if (skip-- > 0) {
        continue;
      }
      if (bytes == MOST * Wire.WORD_BYTES) {
        break;
      }
      ReadFrame.writeWord(to, bytes, word);
      bytes += Wire.WORD_BYTES;
      said++;
    }
    return bytes;
  }

  /** A READ is sent behind everything that was written. */
  void sent() {
    if (wanted) {
      before.add(said);
    }
  }

  /** The reply to the oldest READ has ended: what was said before that READ has come. */
  void replied(Part part, boolean wordWanted) {
    Long come = before.poll();
    if (come != null) {
      for (; known < come; known++) {
        kept.remove();
      }
    }
    if (wordWanted) {
      kept.add(Word.on(part));
      all++;
    }
  }

  /** The connection is closed, with these parts in flight: what is to be said by another. */
  List<Word> end(Collection<Part> inFlight) {
    List<Word> left = new ArrayList<>(kept);
    if (wanted) {
      inFlight.forEach(part -> left.add(Word.on(part)));
    }
    kept.clear();
    before.clear();
    all = 0;
    said = 0;
    known = 0;
    wanted = false;
    return left;
  }
}
