package io.orbitkv.manager;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishOptions;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.transfer.DigestChecks;
import io.orbitkv.tck.reference.Lever;
import io.orbitkv.tck.reference.ReferenceProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Blocks that are no more what was published, with and without a digest (BB-11). Managers in one
 * process over real sockets; the bytes change in the owner's pool, where nothing else sees it.
 */
class DigestedReadTest {
  private static final int BLOCK = 12_345;
  private static final PublishOptions DIGEST = PublishOptions.DEFAULTS.withDigest(true);

  /** Two of these are more than half of a pool. */
  private static final int LARGE = 1_300_000;

  /** A Manager and its pool. */
  private record Running(Manager manager, ArenaMemory arena, ManagerClient client) {}

  @TempDir private Path folder;
  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final Map<String, byte[]> blocks = new HashMap<>();
  private final List<Running> running = new ArrayList<>();

  @BeforeEach
  void saySeed() {
    System.out.println("seed " + seed);
  }

  @AfterEach
  void end() {
    running.forEach(each -> each.client.close());
    running.forEach(each -> each.manager.shutdown());
  }

  private Running start(String name, String... more) {
    List<ArenaMemory> before = ArenaMemory.all();
    Map<String, String> values = new HashMap<>();
    values.put("pool-bytes", "4MiB");
    values.put("peer-transfer-backend", "reference");
    values.put("socket", folder.resolve(name + ".sock").toString());
    values.put("registry-directory", folder.resolve("registry").toString());
    values.put("max-pinned-bytes-per-peer", "4MiB");
    for (int i = 0; i < more.length; i += 2) {
      values.put(more[i], more[i + 1]);
    }
    ReferenceProvider provider = new ReferenceProvider(new Lever());
    Manager manager = Manager.start(ManagerConfiguration.of(values, provider.options()), provider);
    List<ArenaMemory> arenas = new ArrayList<>(ArenaMemory.all());
    arenas.removeAll(before);
    assertThat(arenas).hasSize(1);
    ManagerClient client = ManagerClient.connect(manager.socketPath(), ClientOptions.DEFAULTS);
    Running one = new Running(manager, arenas.getFirst(), client);
    running.add(one);
    await("all peers", () -> running.stream().allMatch(this::knowsAll));
    return one;
  }

  private boolean knowsAll(Running one) {
    return status(one).getAsJsonArray("peers").size() == running.size() - 1;
  }

  private static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited for " + what).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  private static JsonObject status(Running one) {
    return JsonParser.parseString(one.manager.statusJson()).getAsJsonObject();
  }

  private static long number(Running one, String group, String name) {
    return status(one).getAsJsonObject(group).get(name).getAsLong();
  }

  private static BlockName name(String text) {
    return BlockName.of("test", text.getBytes(StandardCharsets.UTF_8));
  }

  private void publish(Running at, String name, int bytes, PublishOptions options) {
    byte[] block = blocks.computeIfAbsent(name, _ -> new byte[bytes]);
    random.nextBytes(block);
    try (RegisteredMemory memory = at.client.allocate(bytes)) {
      memory.segment().copyFrom(MemorySegment.ofArray(block));
      List<Piece> pieces = List.of(Piece.of(name(name), memory));
      assertThat(at.client.publish(pieces, options, Duration.ofSeconds(20)))
          .extracting(PublishResult::status)
          .containsExactly(PublishResult.Status.STORED);
    }
  }

  private byte[] bytesOf(String name) {
    return Objects.requireNonNull(blocks.get(name), name);
  }

  private void rot(Running at, String name, int offset) {
    at.arena.flip(bytesOf(name), offset);
  }

  /** The names that came, each checked to have the bytes that were published. */
  private List<String> read(Running at, QueryOptions options, String... names) {
    List<BlockName> asked = List.of(names).stream().map(DigestedReadTest::name).toList();
    List<String> found = new ArrayList<>();
    try (BlockLease lease = at.client.queryAndWait(asked, options);
        Arena arena = Arena.ofConfined()) {
      for (LeasedBlock block : lease.blocks()) {
        MemorySegment copy = arena.allocate(block.bytes());
        lease.copyTo(block, copy);
        byte[] published = bytesOf(names[block.index()]);
        assertThat(copy.mismatch(MemorySegment.ofArray(published)))
            .as("first wrong byte of %s, seed %d", names[block.index()], seed)
            .isEqualTo(-1);
        found.add(names[block.index()]);
      }
    }
    return found;
  }

  private static void assertNothingIsHeld(Running... all) {
    for (Running one : all) {
      await("all holds to end", () -> number(one, "pool", "holds") == 0);
      assertThat(number(one, "pool", "retired_bytes")).isZero();
    }
  }

  // Guard: PartRead.finish compares before it seals. Without it the reader finds the wrong byte.
  @Test
  void aBlockThatRottedAtItsOwnerIsAMissAndItsMemoryIsFree() {
    Running a = start("a");
    Running b = start("b");
    publish(a, "x", BLOCK, DIGEST);
    rot(a, "x", random.nextInt(BLOCK));
    assertThat(read(b, QueryOptions.FETCH, "x")).isEmpty();
    assertThat(number(b, "digests", "mismatches")).isEqualTo(1);
    assertThat(
            status(b)
                .getAsJsonObject("digests")
                .getAsJsonObject("mismatches_by_owner")
                .get(a.manager.controlAddress())
                .getAsLong())
        .isEqualTo(1);
    assertThat(number(b, "catalog", "blocks")).isZero();
    assertNothingIsHeld(a, b);
    assertThat(number(b, "pool", "free_bytes")).isEqualTo(number(b, "pool", "capacity_bytes"));
    // The name is free: B's own engine computes the block again.
    publish(b, "x", BLOCK, PublishOptions.DEFAULTS);
    assertThat(read(b, QueryOptions.LOCAL, "x")).containsExactly("x");
  }

  @Test
  void anIntactBlockIsComparedAndCounted() {
    Running a = start("a");
    Running b = start("b");
    publish(a, "x", BLOCK, DIGEST);
    publish(a, "plain", BLOCK, PublishOptions.DEFAULTS);
    assertThat(read(b, QueryOptions.FETCH, "x", "plain")).containsExactly("x", "plain");
    assertThat(number(a, "digests", "taken")).isEqualTo(1);
    assertThat(number(b, "digests", "checked")).isEqualTo(1);
    assertThat(number(b, "digests", "mismatches")).isZero();
  }

  // Guard: EngineBlocks.publish takes a digest that no engine asked for under --digest always.
  @Test
  void alwaysTakesADigestOfEveryBlock() {
    Running a = start("a", "digest", "always");
    Running b = start("b");
    publish(a, "x", BLOCK, PublishOptions.DEFAULTS);
    rot(a, "x", 0);
    assertThat(read(b, QueryOptions.FETCH, "x")).isEmpty();
    assertThat(number(b, "digests", "mismatches")).isEqualTo(1);
  }

  // Guard: the comparison comes after the last ticket of a block, over all of it.
  @Test
  void aBlockOfSeveralTicketsIsComparedAsAWhole() {
    int bytes = (1 << 20) + 1;
    Running a = start("a");
    Running b = start("b", "max-read-bytes", "64KiB");
    publish(a, "good", bytes, DIGEST);
    publish(a, "bad", bytes, DIGEST);
    rot(a, "bad", bytes - 1);
    assertThat(read(b, QueryOptions.FETCH, "good", "bad")).containsExactly("good");
    assertThat(number(b, "tickets", "submitted")).isEqualTo(34);
    assertThat(number(b, "digests", "mismatches")).isEqualTo(1);
    assertNothingIsHeld(a, b);
  }

  // Guard: PartRead.settle gives up only what did not match.
  @Test
  void theOtherBlocksOfTheSamePartAreKept() {
    Running a = start("a");
    Running b = start("b");
    for (String name : List.of("p0", "p1", "p2")) {
      publish(a, name, BLOCK, DIGEST);
    }
    rot(a, "p1", 7);
    assertThat(read(b, QueryOptions.FETCH.withPrefix(true), "p0", "p1", "p2"))
        .containsExactly("p0");
    assertThat(read(b, QueryOptions.LOCAL, "p0", "p1", "p2")).containsExactly("p0", "p2");
    assertNothingIsHeld(a, b);
  }

  // Guard: the requester seals with the digest that it was granted. Without it C trusts B's memory.
  @Test
  void theDigestGoesOnWithTheBlock() {
    Running a = start("a");
    Running b = start("b");
    publish(a, "x", BLOCK, DIGEST);
    assertThat(read(b, QueryOptions.FETCH, "x")).containsExactly("x");
    a.client.close();
    a.manager.shutdown();
    running.remove(a);
    Running c = start("c");
    rot(b, "x", random.nextInt(BLOCK));
    assertThat(read(c, QueryOptions.FETCH, "x")).isEmpty();
    assertThat(number(c, "digests", "mismatches")).isEqualTo(1);
    assertNothingIsHeld(b, c);
  }

  // Guard: PartPipeline.askElsewhere. One of the two is asked first for both blocks.
  @Test
  void anotherOwnersCopyIsTakenInPlaceOfARottenOne() {
    Running a = start("a");
    Running c = start("c");
    publish(a, "x", BLOCK, DIGEST);
    publish(a, "y", 3 * BLOCK, DIGEST);
    publish(a, "lost", BLOCK, DIGEST);
    assertThat(read(c, QueryOptions.FETCH, "x", "y", "lost")).hasSize(3);
    rot(a, "x", random.nextInt(BLOCK));
    rot(c, "y", random.nextInt(3 * BLOCK));
    rot(a, "lost", 1);
    rot(c, "lost", 1);
    Running b = start("b");
    assertThat(read(b, QueryOptions.FETCH, "x", "lost", "y")).containsExactly("x", "y");
    assertThat(number(b, "digests", "mismatches")).as("one of x and y, both of lost").isEqualTo(3);
    assertNothingIsHeld(a, b, c);
  }

  // Guard: PartRead.finish gives up and seals nothing before the check has ended.
  @Test
  void cancelDuringACheckLeavesTheMemoryHeldUntilItEnds() {
    Running b = startWithACheckToStop();
    try (StoppedCheck check = new StoppedCheck()) {
      CompletableFuture<BlockLease> read = readBoth(b, Duration.ofSeconds(60));
      await("the check", check::reached);
      read.cancel(false);
      assertHeldByTheCheck(b);
    }
    assertGivenBack(b);
  }

  // Guard: as above.
  @Test
  void deadlineDuringACheckLeavesTheMemoryHeldUntilItEnds() {
    Running b = startWithACheckToStop();
    try (StoppedCheck check = new StoppedCheck()) {
      CompletableFuture<BlockLease> read = readBoth(b, Duration.ofSeconds(4));
      await("the check", check::reached);
      assertThat(read).as("the check came before the deadline").isNotDone();
      await("the deadline's answer", read::isDone);
      try (BlockLease lease = read.join()) {
        assertThat(lease.blocks()).isEmpty();
      }
      assertHeldByTheCheck(b);
    }
    assertGivenBack(b);
  }

  // Guard: Pool.close, which unmaps nothing while there are holds; the check reads on in it.
  @Test
  void stopDuringACheckLeavesTheMemoryMappedUntilItEnds() {
    Running b = startWithACheckToStop();
    try (StoppedCheck check = new StoppedCheck()) {
      var _ = readBoth(b, Duration.ofSeconds(60));
      await("the check", check::reached);
      b.manager.shutdown();
      assertHeldByTheCheck(b);
      assertThat(ArenaMemory.all()).contains(b.arena);
    }
    await("the check's end", () -> number(b, "pool", "holds") == 0);
    assertThat(number(b, "digests", "checked")).isEqualTo(2);
    assertThat(ArenaMemory.all()).contains(b.arena);
  }

  /** Two blocks of one part at A, one of them rotten, so that the check has something to say. */
  private Running startWithACheckToStop() {
    Running a = start("a");
    Running b = start("b");
    publish(a, "good", LARGE, DIGEST);
    publish(a, "bad", LARGE, DIGEST);
    rot(a, "bad", random.nextInt(LARGE));
    return b;
  }

  private static CompletableFuture<BlockLease> readBoth(Running at, Duration deadline) {
    return at.client.query(
        List.of(name("good"), name("bad")), QueryOptions.FETCH.withDeadline(deadline));
  }

  private static void assertHeldByTheCheck(Running at) {
    long capacity = number(at, "pool", "capacity_bytes");
    assertThat(number(at, "tickets", "undrained")).as("every receipt has come").isZero();
    assertThat(number(at, "pool", "free_bytes")).isLessThanOrEqualTo(capacity - 2L * LARGE);
    assertThat(number(at, "pool", "holds")).isEqualTo(2);
    assertThat(number(at, "catalog", "blocks")).isZero();
  }

  /** The rotten one's memory is free, the good one is a block that nobody holds. */
  private static void assertGivenBack(Running at) {
    await("the check's end", () -> number(at, "pool", "holds") == 0);
    assertThat(number(at, "digests", "checked")).isEqualTo(2);
    assertThat(number(at, "digests", "mismatches")).isEqualTo(1);
    assertThat(number(at, "pool", "retired_bytes")).isZero();
    assertThat(number(at, "catalog", "blocks")).isEqualTo(1);
    long capacity = number(at, "pool", "capacity_bytes");
    assertThat(number(at, "pool", "free_bytes")).isBetween(capacity - 2L * LARGE + 1, capacity);
  }

  /** Holds the thread of a check where it says that a block is not what was published. */
  private static final class StoppedCheck extends AppenderBase<ILoggingEvent>
      implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger(DigestChecks.class);
    private final CountDownLatch here = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);

    StoppedCheck() {
      setContext(logger.getLoggerContext());
      start();
      logger.setLevel(Level.WARN);
      logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
      here.countDown();
      try {
        goOn.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    boolean reached() {
      return here.getCount() == 0;
    }

    @Override
    public void close() {
      goOn.countDown();
      logger.detachAppender(this);
      logger.setLevel(null);
    }
  }
}
