package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishOptions;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.PoolMemory;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Payload that is changed or lost on its way, or where it lies (BB-11). Every page that a read
 * answers with is compared with what was published, byte for byte.
 */
class CorruptedBytesTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int HEADERS_BYTES = 64 + 40;
  private static final int PAGE_BYTES = 300_000;
  private static final int ROUNDS = 6;

  @RegisterExtension final Rig rig = new Rig();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  // Guard: PartRead compares before it seals: without it the page is answered with the wrong byte.
  @Test
  void flippedPayloadByteIsAMissAndCounted() {
    System.out.println("seed " + seed);
    Rig.ProxiedPair pair = rig.proxied("--orbitte-tcp-connections", "1", "--digest", "always");
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      for (int i = 0; i < ROUNDS; i++) {
        List<Page> pages = Page.of(i, 1, 1, PAGE_BYTES).toList();
        engine.store(pages);
        pair.data().cut();
        int at = random.nextInt(PAGE_BYTES);
        pair.data().valve().flipAfter(HEADERS_BYTES + at);
        assertThat(reader.read(pages, QueryOptions.FETCH))
            .describedAs("a page with byte %d falsified, seed %d", at, seed)
            .isEmpty();
        Status status = pair.b().status();
        assertThat(status.number("digests.mismatches")).isEqualTo(i + 1);
        assertThat(status.number("catalog.blocks")).isEqualTo(i);
        pair.data().valve().open();
        assertThat(reader.read(pages, QueryOptions.FETCH)).hasSize(1);
      }
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
    assertThat(pair.b().log()).contains("digest mismatch: " + PAGE_BYTES + " bytes of block");
  }

  // Guard: as above; the falsified byte may be in a header as well, which the transport refuses.
  @Test
  void flippedByteAnywhereIsNeverASuccess() {
    System.out.println("seed " + seed);
    Rig.ProxiedPair pair = rig.proxied("--max-read-bytes", "200000");
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      for (int i = 0; i < ROUNDS; i++) {
        List<Page> pages = Page.of(i, 1, 4, PAGE_BYTES).toList();
        storeWithDigest(engine, pages);
        int at = random.nextInt(4 * PAGE_BYTES);
        pair.data().valve().flipAfter(at);
        assertThat(reader.read(pages, QueryOptions.FETCH.withDeadline(Duration.ofSeconds(5))))
            .describedAs("pages after byte %d of the stream was falsified, seed %d", at, seed)
            .hasSizeLessThan(4);
        pair.data().valve().open();
        Await.until(
            "a read after falsified byte " + at,
            SOON,
            () -> reader.read(pages, QueryOptions.FETCH).size() == 4);
      }
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: ReplyReader, to which a reply is whole with its last byte only: without it a page comes
  // with a hole. And ProgressWatch, which ends what stays short: without it the read is cancelled
  // by its deadline, long after.
  @Test
  void pageThatCameShortIsAMissAlsoWithoutADigest() {
    System.out.println("seed " + seed);
    Rig.ProxiedPair pair =
        rig.proxied("--orbitte-tcp-connections", "1", "--transfer-progress-timeout", "1s");
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      for (int i = 0; i < 3; i++) {
        List<Page> pages = Page.of(i, 1, 1, PAGE_BYTES).toList();
        engine.store(pages);
        pair.data().cut();
        int missing = 1 + random.nextInt(1_000);
        int at = random.nextInt(PAGE_BYTES - missing);
        pair.data().valve().swallowAfter(HEADERS_BYTES + at, missing);
        long failed = pair.b().status().number("tickets.outcomes.Failed");
        assertThat(reader.read(pages, QueryOptions.FETCH.withDeadline(Duration.ofSeconds(10))))
            .describedAs("a page without %d bytes at %d, seed %d", missing, at, seed)
            .isEmpty();
        assertThat(pair.b().status().number("tickets.outcomes.Failed"))
            .as("tickets that made no progress")
            .isGreaterThan(failed);
        pair.data().valve().open();
        Await.until(
            "a read after a short one",
            SOON,
            () -> reader.read(pages, QueryOptions.FETCH).size() == 1);
      }
      assertThat(pair.b().status().number("digests.checked")).isZero();
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: the digest. Where replies follow each other, what is missing of one is filled up with
  // the beginning of the next, so that its length is right.
  @Test
  void bytesMissingBetweenRepliesAreNeverASuccess() {
    System.out.println("seed " + seed);
    Rig.ProxiedPair pair =
        rig.proxied(
            "--orbitte-tcp-connections",
            "1",
            "--max-read-bytes",
            "300000",
            "--transfer-progress-timeout",
            "1s",
            "--digest",
            "always");
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      for (int i = 0; i < ROUNDS; i++) {
        List<Page> pages = Page.of(i, 1, 4, PAGE_BYTES).toList();
        engine.store(pages);
        pair.data().cut();
        int at = random.nextInt(PAGE_BYTES);
        pair.data().valve().swallowAfter(HEADERS_BYTES + at, 1 + random.nextInt(40));
        assertThat(reader.read(pages, QueryOptions.FETCH.withDeadline(Duration.ofSeconds(5))))
            .describedAs("pages after bytes at %d were lost, seed %d", at, seed)
            .hasSizeLessThan(4);
        pair.data().valve().open();
        Await.until(
            "a read after lost bytes",
            SOON,
            () -> reader.read(pages, QueryOptions.FETCH).size() == 4);
      }
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: the digest is of what was published, not of what the memory holds when it is granted.
  @Test
  void byteThatChangedInTheOwnersMemoryIsAMiss() {
    System.out.println("seed " + seed);
    Rig.Pair pair = rig.pair();
    List<Page> pages = Page.of(1, 1, 3, PAGE_BYTES).toList();
    try (Engine engine = pair.a().engine();
        Engine reader = pair.b().engine()) {
      storeWithDigest(engine, pages);
      int at = random.nextInt(PAGE_BYTES);
      PoolMemory.flip(pair.a(), pages.get(1), at);
      assertThat(reader.read(pages, QueryOptions.FETCH))
          .describedAs("byte %d changed in A's pool, seed %d", at, seed)
          .containsOnlyKeys(pages.get(0), pages.get(2))
          .containsValue(Origin.PEER);
      assertThat(pair.b().status().number("digests.checked")).isEqualTo(3);
      assertThat(pair.b().status().number("digests.mismatches")).isEqualTo(1);
      assertThat(reader.read(pages, QueryOptions.LOCAL)).hasSize(2);
    }
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: PutCommand passes --digest on, and the Manager takes none that nobody asked for.
  @Test
  void putHasADigestTakenWhereItIsAskedFor() throws IOException {
    Rig.Pair pair = rig.pair();
    String a = pair.a().socket().toString();
    String b = pair.b().socket().toString();
    Path file = Files.writeString(rig.directory().resolve("in"), "bytes of a block");
    rig.run("put", "plain", file.toString(), "--socket", a).succeeded();
    rig.run("put", "sure", file.toString(), "--socket", a, "--digest").succeeded();
    for (String key : List.of("plain", "sure")) {
      Path out = rig.directory().resolve(key);
      rig.run("get", key, out.toString(), "--socket", b).succeeded();
      assertThat(out).hasSameBinaryContentAs(file);
    }
    assertThat(pair.a().status().number("digests.taken")).isEqualTo(1);
    assertThat(pair.b().status().number("digests.checked")).isEqualTo(1);
  }

  private static void storeWithDigest(Engine engine, List<Page> pages) {
    for (Page page : pages) {
      try (RegisteredMemory memory = engine.client().allocate(page.bytes())) {
        page.fill(memory.segment());
        List<Piece> pieces = List.of(Piece.of(page.name(), memory));
        assertThat(engine.client().publish(pieces, PublishOptions.DEFAULTS.withDigest(true), SOON))
            .extracting(PublishResult::status)
            .containsExactly(PublishResult.Status.STORED);
      }
    }
  }
}
