package io.orbitkv.manager.control;

import java.util.List;

/**
 * Asks a peer for the length of no blocks, one question at a time, so that the first READ does not
 * pay for loading and compiling the path on both sides. Two processes that are warm already stop at
 * the first answers.
 */
final class PathWarming {
  private static final int QUESTIONS = 500;
  private static final int WARM_ANSWERS = 5;
  private static final long WARM_NANOS = 250_000;

  private final PeerLink link;
  private int asked;
  private int warm;

  private PathWarming(PeerLink link) {
    this.link = link;
  }

  /** On the links' thread; goes on by itself until enough was asked, or the link fails. */
  static void start(PeerLink link) {
    new PathWarming(link).ask();
  }

  private void ask() {
    long start = System.nanoTime();
    var _ =
        link.locate(List.of())
            .whenComplete(
                (lengths, failure) -> {
                  asked++;
                  warm += System.nanoTime() - start < WARM_NANOS ? 1 : 0;
                  if (failure == null && asked < QUESTIONS && warm < WARM_ANSWERS) {
                    ask();
                  }
                });
  }
}
