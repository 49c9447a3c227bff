package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Payload connections that are cut or falsified at any byte. */
class BrokenStreamTest {
  private static final int PREFACE_BYTES = 64;

  /** Where kind, request id, epoch and length are in a reply's header. */
  private static final int[] MEANINGFUL =
      IntStream.concat(IntStream.of(0), IntStream.range(8, 40)).toArray();

  private static final int CUTS = 12;

  @RegisterExtension final Rig rig = new Rig();

  private final long seed = System.nanoTime();

  // Guard: one outcome after the last part (BB-05): a block whose bytes came in part must be a
  // miss.
  @Test
  void cutAnywhereIsAMissAndTheNextReadConnectsAgain() {
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Rig.ProxiedPair pair = rig.proxied();
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(10));
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      for (int i = 0; i < CUTS; i++) {
        List<Page> pages = Page.of(i, 1, 4, 700_001).toList();
        engine.store(pages);
        int at = 1 + random.nextInt(4 * 700_001);
        pair.data().valve().cutAfter(at);
        // Engine checks the bytes of whatever comes.
        assertThat(reader.read(pages, options).size())
            .describedAs("blocks of 4 after a cut at byte %d, seed %d", at, seed)
            .isLessThanOrEqualTo(4);
        pair.data().valve().open();
        Await.until(
            "a read after a cut at byte " + at,
            Duration.ofSeconds(15),
            () -> reader.read(pages, options).size() == 4);
      }
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: ReplyHeader's checks of kind, request id, epoch and length. What they let through would
  // be bytes of another block.
  @Test
  void falsifiedReplyHeaderIsNeverASuccess() {
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Rig.ProxiedPair pair = rig.proxied("--orbitte-tcp-connections", "1");
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(3));
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      for (int i = 0; i < 6; i++) {
        List<Page> pages = Page.of(i, 1, 1, 300_000).toList();
        engine.store(pages);
        pair.data().cut();
        int at = PREFACE_BYTES + MEANINGFUL[random.nextInt(MEANINGFUL.length)];
        pair.data().valve().flipAfter(at);
        assertThat(reader.read(pages, options))
            .describedAs("a block whose header was falsified at byte %d, seed %d", at, seed)
            .isEmpty();
        pair.data().valve().open();
        Await.until(
            "a read after a falsified byte " + at,
            Duration.ofSeconds(15),
            () -> reader.read(pages, options).size() == 1);
      }
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }
}
