package io.orbitkv.manager;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishOptions;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.tck.reference.Lever;
import io.orbitkv.tck.reference.ReferenceProvider;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Blocks that are asked for where the last ones came from: guesses that are right, wrong, or right
 * in part. Managers in one process over real sockets.
 */
class GuessedOwnerTest {
  private record Running(Manager manager, ManagerClient client) {}

  @TempDir private Path folder;
  private final List<Running> running = new ArrayList<>();

  @AfterEach
  void end() {
    running.forEach(each -> each.client.close());
    running.forEach(each -> each.manager.shutdown());
  }

  private Running start(String name, String poolBytes) {
    return start(name, poolBytes, new Lever());
  }

  private Running start(String name, String poolBytes, Lever lever) {
    Map<String, String> values = new HashMap<>();
    values.put("pool-bytes", poolBytes);
    values.put("peer-transfer-backend", "reference");
    values.put("socket", folder.resolve(name + ".sock").toString());
    values.put("registry-directory", folder.resolve("registry").toString());
    values.put("max-pinned-bytes-per-peer", "4MiB");
    ReferenceProvider provider = new ReferenceProvider(lever);
    Manager manager = Manager.start(ManagerConfiguration.of(values, provider.options()), provider);
    ManagerClient client = ManagerClient.connect(manager.socketPath(), ClientOptions.DEFAULTS);
    Running one = new Running(manager, client);
    running.add(one);
    await(
        "all peers",
        () ->
            running.stream()
                .allMatch(
                    each -> status(each).getAsJsonArray("peers").size() == running.size() - 1));
    return one;
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

  private static BlockName name(String text) {
    return BlockName.of("test", text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] bytesOf(String name, int bytes) {
    byte[] block = new byte[bytes];
    Arrays.fill(block, (byte) name.hashCode());
    return block;
  }

  private static void publish(Running at, int bytes, String... names) {
    for (String name : names) {
      try (RegisteredMemory memory = at.client.allocate(bytes)) {
        memory.segment().copyFrom(MemorySegment.ofArray(bytesOf(name, bytes)));
        at.client.publish(
            List.of(Piece.of(name(name), memory)), PublishOptions.DEFAULTS, Duration.ofSeconds(20));
      }
    }
  }

  /** The names that came, each checked against what was published under it. */
  private static List<String> read(Running at, QueryOptions options, String... names) {
    List<BlockName> asked = List.of(names).stream().map(GuessedOwnerTest::name).toList();
    List<String> found = new ArrayList<>();
    try (BlockLease lease = at.client.queryAndWait(asked, options)) {
      for (LeasedBlock block : lease.blocks()) {
        byte[] copy = new byte[(int) block.bytes()];
        lease.copyTo(block, MemorySegment.ofArray(copy));
        assertThat(copy).isEqualTo(bytesOf(names[block.index()], copy.length));
        found.add(names[block.index()]);
      }
    }
    return found;
  }

  private void assertNothingIsHeld() {
    for (Running one : running) {
      await(
          "all holds to end",
          () -> status(one).getAsJsonObject("pool").get("holds").getAsLong() == 0);
      assertThat(status(one).getAsJsonObject("pool").get("retired_bytes").getAsLong()).isZero();
    }
  }

  // Guard: FetchOperation searches for what a guess did not bring. Without it "elsewhere" misses.
  @Test
  void whatTheGuessedOwnerDoesNotHaveComesFromAnother() {
    Running a = start("a", "4MiB");
    Running b = start("b", "4MiB");
    Running c = start("c", "4MiB");
    publish(a, 10_000, "1", "2", "3");
    publish(b, 10_000, "elsewhere", "4");
    assertThat(read(c, QueryOptions.FETCH, "1")).containsExactly("1");
    assertThat(read(c, QueryOptions.FETCH, "2", "elsewhere", "3", "nowhere"))
        .containsExactly("2", "elsewhere", "3");
    assertThat(read(c, QueryOptions.FETCH, "4")).containsExactly("4");
    assertThat(read(c, QueryOptions.FETCH, "nowhere")).isEmpty();
    assertNothingIsHeld();
  }

  // Guard: PartRead takes the lengths of a guess from its grant. With those guessed, "long" misses.
  @Test
  void aBlockOfAnotherLengthThanGuessedComesWhole() {
    Running a = start("a", "4MiB");
    Running b = start("b", "4MiB");
    publish(a, 10_000, "short");
    publish(a, 300_000, "long");
    publish(a, 7, "tiny");
    assertThat(read(b, QueryOptions.FETCH, "short")).containsExactly("short");
    assertThat(read(b, QueryOptions.FETCH, "long", "tiny")).containsExactly("long", "tiny");
    assertNothingIsHeld();
  }

  // Guard: PartRead.plan stops a prefix at its first gap. Without it "3" is read for nobody.
  @Test
  void aPrefixReadsNothingBehindItsFirstMiss() {
    Running a = start("a", "4MiB");
    Running b = start("b", "4MiB");
    publish(a, 10_000, "1", "2", "3");
    assertThat(read(b, QueryOptions.FETCH, "1")).containsExactly("1");
    QueryOptions prefix = QueryOptions.FETCH.withPrefix(true);
    assertThat(read(b, prefix, "2", "nowhere", "3")).containsExactly("2");
    assertThat(status(b).getAsJsonObject("catalog").get("blocks").getAsLong()).isEqualTo(2);
    assertNothingIsHeld();
  }

  // Guard: dropBehind in PartPipeline abandons. Without it "behind" stays pinned at a while "2" is
  // read, however long that takes.
  @Test
  void whatAPrefixEndsBeforeIsGivenBackWhileTheRestIsRead() throws Exception {
    Lever lever = new Lever();
    Running a = start("a", "16MiB", lever);
    Running b = start("b", "16MiB", lever);
    publish(a, 2 << 20, "1");
    publish(a, 10_000, "2", "behind");
    // From now on 32 names are a part.
    assertThat(read(b, QueryOptions.FETCH, "1")).containsExactly("1");
    String[] names = new String[64];
    for (int i = 0; i < names.length; i++) {
      names[i] = i == 0 ? "2" : i == 40 ? "behind" : "nowhere " + i;
    }
    lever.shut();
    try {
      CompletableFuture<List<String>> found =
          CompletableFuture.supplyAsync(() -> read(b, QueryOptions.FETCH.withPrefix(true), names));
      await("a stalled read", () -> lever.stopped() > 0);
      await("one source", () -> status(a).getAsJsonObject("pool").get("holds").getAsLong() == 1);
      lever.open();
      assertThat(found.get(20, TimeUnit.SECONDS)).containsExactly("2");
    } finally {
      lever.open();
    }
    assertNothingIsHeld();
  }

  // Guard: PartRead.reserve waits for the grant of a guess. Without it local blocks are evicted.
  @Test
  void aGuessForBlocksThatAreNowhereEvictsNothing() {
    Running a = start("a", "4MiB");
    Running b = start("b", "1MiB");
    publish(a, 300_000, "1");
    assertThat(read(b, QueryOptions.FETCH, "1")).containsExactly("1");
    publish(b, 300_000, "own", "other");
    assertThat(read(b, QueryOptions.FETCH, "nowhere")).isEmpty();
    assertThat(read(b, QueryOptions.LOCAL, "1", "own", "other"))
        .containsExactly("1", "own", "other");
    assertNothingIsHeld();
  }
}
