package io.orbitkv.manager.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.adapter.RestorePlan;
import io.orbitkv.adapter.Role;
import io.orbitkv.manager.Manager;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.tck.reference.Lever;
import io.orbitkv.tck.reference.ReferenceProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/** What the tests of plans do with a Manager and its engines. */
public final class Site {
  public static final String INSTANCE = "engine";
  public static final int BLOCK = 64 << 10;
  public static final Duration LIMIT = Duration.ofSeconds(30);
  public static final QueryOptions LOCAL = QueryOptions.LOCAL.withDeadline(Duration.ofSeconds(20));

  private Site() {}

  /** A Manager of a pool of 1 MiB, without peers. */
  public static Manager manager(Path socket) {
    ReferenceProvider provider = new ReferenceProvider(new Lever());
    Map<String, String> values =
        Map.of(
            "pool-bytes", "1MiB",
            "peer-transfer-backend", "reference",
            "membership", "none",
            "socket", socket.toString());
    return Manager.start(ManagerConfiguration.of(values, provider.options()), provider);
  }

  public static ManagerClient client(Path socket, Role role) {
    return ManagerClient.connect(
        socket, ClientOptions.DEFAULTS.withInstance(INSTANCE).withRole(role).withTimeout(LIMIT));
  }

  public static BlockName name(int number) {
    return BlockName.of("plan", ("block " + number).getBytes(StandardCharsets.UTF_8));
  }

  public static List<BlockName> names(int count) {
    return IntStream.range(0, count).mapToObj(Site::name).toList();
  }

  public static byte fill(int number) {
    return (byte) (number * 7 + 1);
  }

  /** Publishes blocks of those numbers, each filled with its own byte. */
  public static void publish(ManagerClient client, int first, int count, int bytes) {
    try (RegisteredMemory memory = client.allocate((long) bytes * count)) {
      List<Piece> pieces = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        memory.segment().asSlice((long) i * bytes, bytes).fill(fill(first + i));
        pieces.add(new Piece(name(first + i), memory, (long) i * bytes, bytes));
      }
      for (PublishResult result : client.publish(pieces, LIMIT)) {
        assertThat(result.status()).isEqualTo(PublishResult.Status.STORED);
      }
    }
  }

  /** Restores it and checks every byte of the blocks numbered as the plan's names are. */
  public static void assertRestores(RestorePlan plan) {
    assertRestores(plan, Runnable::run);
  }

  /** As above, the parts run by an executor. */
  public static void assertRestores(RestorePlan plan, Executor executor) {
    try (Arena arena = Arena.ofShared()) {
      List<MemorySegment> to = buffers(plan, arena);
      plan.restore(to, executor);
      for (int i = 0; i < to.size(); i++) {
        assertThat(to.get(i).toArray(ValueLayout.JAVA_BYTE))
            .containsOnly(fill(plan.blocks().get(i).index()));
      }
    }
  }

  public static List<MemorySegment> buffers(RestorePlan plan, Arena arena) {
    return plan.blocks().stream().map(block -> arena.allocate(block.bytes())).toList();
  }

  public static JsonObject status(String json) {
    return JsonParser.parseString(json).getAsJsonObject();
  }

  public static long openPlans(ManagerClient client) {
    return status(client.status()).getAsJsonObject("plans").get("open").getAsLong();
  }

  /** How many holds the ledger has for plans. */
  public static long planHolds(ManagerClient client) {
    long count = 0;
    for (JsonElement hold : status(client.status()).getAsJsonArray("holds")) {
      count += hold.getAsJsonObject().get("kind").getAsString().equals("plan") ? 1 : 0;
    }
    return count;
  }

  public static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited for " + what).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }
}
