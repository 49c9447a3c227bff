package io.orbitkv.manager;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonParser;
import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.tck.reference.Defect;
import io.orbitkv.tck.reference.Lever;
import io.orbitkv.tck.reference.ReferenceProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the receipt is for: a read is aborted in the middle, its pages are asked for again at once
 * for somebody else, and then the old bytes arrive. Once with a provider that keeps the rules, once
 * with one that takes a cancel for the end, as released systems do.
 */
class DemoReuseTest {
  private static final int PAGES = 16;
  private static final int PAGE_BYTES = 64 << 10;
  private static final byte OLD = 7;
  private static final byte NEW = 9;

  @TempDir private Path folder;

  @Test
  void withReceiptsNoPageIsWrong() {
    assertThat(wrongPages(Set.of())).isZero();
  }

  @Test
  void whereACancelCountsAsTheEndPagesAreWrong() {
    assertThat(
            wrongPages(Set.of(Defect.RECEIPT_BEFORE_THREAD_LEFT, Defect.LATE_WRITE_AFTER_FAILED)))
        .isPositive();
  }

  private int wrongPages(Set<Defect> defects) {
    Lever lever = new Lever();
    Manager a = manager("a", lever, defects);
    Manager b = manager("b", lever, defects);
    try (ManagerClient owner = ManagerClient.connect(a.socketPath(), ClientOptions.DEFAULTS);
        ManagerClient reader = ManagerClient.connect(b.socketPath(), ClientOptions.DEFAULTS)) {
      await("the peers", () -> b.statusJson().contains("\"control\":\"" + a.controlAddress()));
      for (BlockName name : names("old")) {
        assertThat(published(owner, name, OLD)).isTrue();
      }
      lever.shut();
      // On a busy machine a read may be aborted before it began to move.
      await("a read to be aborted on its way", () -> aborted(reader) && submitted(b) > 0);
      // The next request wants every page; whoever keeps the rules makes it wait.
      boolean atOnce = names("new").stream().allMatch(name -> published(reader, name, NEW));
      assertThat(atOnce).isEqualTo(!defects.isEmpty());
      lever.open();
      for (BlockName name : names("new")) {
        await(name + " to be stored", () -> published(reader, name, NEW));
      }
      await("the tickets to drain", () -> undrained(b) == 0);
      if (!defects.isEmpty()) {
        await("the late bytes", () -> wrong(reader) > 0);
      }
      return wrong(reader);
    } finally {
      lever.open();
      a.shutdown();
      b.shutdown();
    }
  }

  private Manager manager(String name, Lever lever, Set<Defect> defects) {
    ReferenceProvider provider = new ReferenceProvider(lever, defects);
    Map<String, String> values =
        Map.of(
            "pool-bytes", String.valueOf(PAGES * PAGE_BYTES),
            "max-pinned-bytes-per-peer", String.valueOf(PAGES * PAGE_BYTES),
            "peer-transfer-backend", provider.name(),
            "socket", folder.resolve(name + ".sock").toString(),
            "registry-directory", folder.resolve("registry").toString(),
            "source-close-deadline", "1s");
    return Manager.start(ManagerConfiguration.of(values, provider.options()), provider);
  }

  private static List<BlockName> names(String request) {
    return IntStream.range(0, PAGES)
        .mapToObj(i -> BlockName.of(request, String.valueOf(i).getBytes(StandardCharsets.UTF_8)))
        .toList();
  }

  private static boolean published(ManagerClient client, BlockName name, byte fill) {
    try (RegisteredMemory memory = client.allocate(PAGE_BYTES)) {
      memory.segment().fill(fill);
      PublishResult result =
          client.publish(List.of(Piece.of(name, memory)), Duration.ofSeconds(20)).get(0);
      return result.status() != PublishResult.Status.FAULT;
    }
  }

  private static int wrong(ManagerClient reader) {
    int wrong = 0;
    try (Arena arena = Arena.ofConfined();
        BlockLease lease = reader.queryAndWait(names("new"), QueryOptions.LOCAL)) {
      assertThat(lease.blocks()).hasSize(PAGES);
      MemorySegment page = arena.allocate(PAGE_BYTES);
      for (LeasedBlock block : lease.blocks()) {
        lease.copyTo(block, page);
        for (int i = 0; i < PAGE_BYTES; i++) {
          if (page.get(ValueLayout.JAVA_BYTE, i) != NEW) {
            wrong++;
            break;
          }
        }
      }
    }
    return wrong;
  }

  private static boolean aborted(ManagerClient reader) {
    try (BlockLease lease =
        reader.queryAndWait(
            names("old"), QueryOptions.FETCH.withDeadline(Duration.ofMillis(500)))) {
      return lease.blocks().isEmpty();
    }
  }

  private static long submitted(Manager manager) {
    return tickets(manager, "submitted");
  }

  private static long undrained(Manager manager) {
    return tickets(manager, "undrained");
  }

  private static long tickets(Manager manager, String which) {
    return JsonParser.parseString(manager.statusJson())
        .getAsJsonObject()
        .getAsJsonObject("tickets")
        .get(which)
        .getAsLong();
  }

  private static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited for " + what).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }
}
