package io.orbitkv.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two Managers in one process, over real sockets, with the reference transport. */
class ManagerTest {
  private static final int KIB = 1024;
  private static final long MIB = 1 << 20;

  @TempDir private Path folder;
  private final Lever lever = new Lever();
  private final List<ManagerClient> clients = new ArrayList<>();
  private final List<Manager> managers = new ArrayList<>();

  @AfterEach
  void end() {
    lever.open();
    clients.forEach(ManagerClient::close);
    managers.forEach(Manager::shutdown);
  }

  private Manager manager(String name, Map<String, String> more) {
    Map<String, String> values =
        new HashMap<>(
            Map.of(
                "pool-bytes", "1MiB",
                "peer-transfer-backend", "reference",
                "socket", folder.resolve(name + ".sock").toString(),
                "registry-directory", folder.resolve("registry").toString(),
                "source-close-deadline", "1s"));
    values.putAll(more);
    ReferenceProvider provider = new ReferenceProvider(lever);
    Manager manager = Manager.start(ManagerConfiguration.of(values, provider.options()), provider);
    managers.add(manager);
    return manager;
  }

  private ManagerClient client(Manager manager) {
    ManagerClient client = ManagerClient.connect(manager.socketPath(), ClientOptions.DEFAULTS);
    clients.add(client);
    return client;
  }

  private static BlockName name(String text) {
    return BlockName.of("test", text.getBytes(StandardCharsets.UTF_8));
  }

  private static JsonObject status(Manager manager) {
    return JsonParser.parseString(manager.statusJson()).getAsJsonObject();
  }

  private static long number(Manager manager, String group, String name) {
    return status(manager).getAsJsonObject(group).get(name).getAsLong();
  }

  private static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited for " + what).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  private static void publish(ManagerClient client, String name, long bytes, int fill) {
    assertThat(tryPublish(client, name, bytes, fill).status())
        .isEqualTo(PublishResult.Status.STORED);
  }

  private static PublishResult tryPublish(ManagerClient client, String name, long bytes, int fill) {
    try (RegisteredMemory memory = client.allocate(bytes)) {
      memory.segment().fill((byte) fill);
      return client.publish(List.of(Piece.of(name(name), memory)), Duration.ofSeconds(20)).get(0);
    }
  }

  private static void assertBlock(BlockLease lease, int block, Origin origin, int fill) {
    LeasedBlock leased = lease.blocks().get(block);
    assertThat(leased.origin()).isEqualTo(origin);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(leased.bytes());
      lease.copyTo(leased, copy);
      for (long i = 0; i < leased.bytes(); i++) {
        assertThat(copy.get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) fill);
      }
    }
  }

  private static void awaitPeers(Manager... all) {
    for (Manager manager : all) {
      await("peers of each other", () -> status(manager).getAsJsonArray("peers").size() > 0);
    }
  }

  @Test
  void aBlockPublishedAtOneIsReadThroughTheOther() {
    Manager a = manager("a", Map.of());
    Manager b = manager("b", Map.of());
    awaitPeers(a, b);
    publish(client(a), "x", 64 * KIB, 7);
    ManagerClient reader = client(b);
    try (BlockLease lease = reader.queryAndWait(List.of(name("x")), QueryOptions.FETCH)) {
      assertBlock(lease, 0, Origin.PEER, 7);
    }
    try (BlockLease lease = reader.queryAndWait(List.of(name("x")), QueryOptions.LOCAL)) {
      assertBlock(lease, 0, Origin.LOCAL, 7);
    }
    // Guard: fetches() in BlockReader.answer. Without it what a peer may have counts as missed.
    try (BlockLease lease = reader.queryAndWait(List.of(name("y")), QueryOptions.LOCAL)) {
      assertThat(lease.blocks()).isEmpty();
      assertThat(number(b, "reads", "missed_blocks")).isZero();
    }
    await("all holds to end", () -> number(a, "pool", "holds") + number(b, "pool", "holds") == 0);
    // Guard: the times of PartRead.finish. Without them nothing tells a slow grant from a slow
    // read.
    assertThat(number(b, "fetches", "recent")).isEqualTo(1);
    assertThat(number(b, "fetches", "whole_p50_nanos"))
        .isEqualTo(
            number(b, "fetches", "grant_p50_nanos") + number(b, "fetches", "read_p50_nanos"));
    assertThat(number(b, "fetches", "grant_p50_nanos")).isPositive();
    assertThat(number(b, "fetches", "read_p99_nanos")).isPositive();
    assertThat(number(a, "fetches", "recent")).isZero();
    assertThat(status(b).getAsJsonObject("receipts_destination").get("LOCAL_QUIESCED").getAsInt())
        .isEqualTo(1);
    assertThat(status(a).getAsJsonObject("receipts_source").get("LOCAL_QUIESCED").getAsInt())
        .isEqualTo(1);
  }

  @Test
  void aBlockLargerThanAReadIsReadByTicketsThatHoldItTogether() {
    Manager a = manager("a", Map.of("pool-bytes", "4MiB"));
    Manager b = manager("b", Map.of("pool-bytes", "4MiB", "max-read-bytes", "64KiB"));
    awaitPeers(a, b);
    publish(client(a), "large", MIB, 9);
    try (BlockLease lease = client(b).queryAndWait(List.of(name("large")), QueryOptions.FETCH)) {
      assertBlock(lease, 0, Origin.PEER, 9);
    }
    assertThat(number(b, "receipts_destination", "LOCAL_QUIESCED")).isEqualTo(16);
    assertThat(number(a, "grants", "given")).isEqualTo(1);
  }

  @Test
  void aPrefixEndsAtTheFirstBlockThatNobodyHas() {
    Manager a = manager("a", Map.of());
    Manager b = manager("b", Map.of());
    awaitPeers(a, b);
    ManagerClient writer = client(a);
    publish(writer, "p0", 4 * KIB, 1);
    publish(writer, "p1", 4 * KIB, 2);
    publish(writer, "p3", 4 * KIB, 4);
    List<BlockName> names = List.of(name("p0"), name("p1"), name("p2"), name("p3"));
    try (BlockLease lease = client(b).queryAndWait(names, QueryOptions.FETCH.withPrefix(true))) {
      assertThat(lease.blocks()).hasSize(2);
    }
    try (BlockLease lease = client(b).queryAndWait(names, QueryOptions.FETCH)) {
      assertThat(lease.blocks()).hasSize(3);
    }
  }

  @Test
  void aNameThatIsAskedForTwiceInOneReadIsFetchedOnce() {
    Manager a = manager("a", Map.of());
    Manager b = manager("b", Map.of());
    awaitPeers(a, b);
    publish(client(a), "x", 4 * KIB, 1);
    try (BlockLease lease =
        client(b).queryAndWait(List.of(name("x"), name("x")), QueryOptions.FETCH)) {
      assertThat(lease.blocks()).hasSize(2);
      // Guard: what FetchOperation.release tells those who wait. Without it the second is local.
      assertBlock(lease, 0, Origin.PEER, 1);
      assertBlock(lease, 1, Origin.PEER, 1);
      assertThat(number(b, "pool", "holds")).as("one hold for one block").isEqualTo(1);
    }
    assertThat(number(a, "grants", "given")).isEqualTo(1);
    await("the lease to end", () -> number(b, "pool", "holds") == 0);
  }

  @Test
  void theDeadlineIsAMissAndFreesNothing() {
    Manager a = manager("a", Map.of());
    Manager b = manager("b", Map.of());
    awaitPeers(a, b);
    publish(client(a), "x", 256 * KIB, 7);
    ManagerClient engine = client(b);
    lever.shut();
    try (BlockLease lease =
        engine.queryAndWait(
            List.of(name("x")), QueryOptions.FETCH.withDeadline(Duration.ofMillis(500)))) {
      assertThat(lease.blocks()).isEmpty();
    }
    // Guard: TrackedTicket ends its holds only in drained(). 768 KiB of B's pool are not held.
    publish(engine, "y", 512 * KIB, 8);
    PublishResult refused = tryPublish(engine, "z", 800 * KIB, 9);
    assertThat(refused.code()).isEqualTo(FaultCode.EXHAUSTED);
    assertThat(number(b, "tickets", "undrained")).isEqualTo(1);
    assertThat(number(b, "pool", "holds")).isGreaterThan(0);

    lever.open();
    await("the ticket to drain", () -> number(b, "tickets", "undrained") == 0);
    await("B's holds to end", () -> number(b, "pool", "holds") == 0);
    publish(engine, "z", 800 * KIB, 9);
    try (BlockLease lease = engine.queryAndWait(List.of(name("z")), QueryOptions.LOCAL)) {
      assertBlock(lease, 0, Origin.LOCAL, 9);
    }
    await("A's source to be drained", () -> number(a, "pool", "holds") == 0);
  }

  @Test
  void theSourceStaysWhileItIsReadThoughItsGrantHasExpired() {
    Manager a = manager("a", Map.of("grant-lifetime", "1s", "pool-bytes", "512KiB"));
    Manager b = manager("b", Map.of());
    awaitPeers(a, b);
    ManagerClient owner = client(a);
    publish(owner, "x", 128 * KIB, 7);
    lever.shut();
    var reading = client(b).query(List.of(name("x")), QueryOptions.FETCH);
    await("the grant to expire", () -> number(a, "grants", "retired") == 1);
    // Guard: GrantAuthority.retire unpins only in SourceDrain.drained().
    assertThat(tryPublish(owner, "y", 512 * KIB, 9).code()).isEqualTo(FaultCode.EXHAUSTED);
    assertThat(number(a, "pool", "holds")).isEqualTo(1);
    lever.open();
    try (BlockLease lease = reading.join()) {
      assertBlock(lease, 0, Origin.PEER, 7);
    }
    await("the grant to drain", () -> number(a, "grants", "retired") == 0);
    publish(owner, "y", 512 * KIB, 9);
  }

  @Test
  void aPeerBeyondItsLimitIsRefusedAndNothingIsPinned() {
    Manager a = manager("a", Map.of("max-pinned-bytes-per-peer", "64KiB"));
    Manager b = manager("b", Map.of());
    awaitPeers(a, b);
    publish(client(a), "x", 128 * KIB, 7);
    try (BlockLease lease = client(b).queryAndWait(List.of(name("x")), QueryOptions.FETCH)) {
      assertThat(lease.blocks()).isEmpty();
    }
    assertThat(number(a, "pool", "holds")).isZero();
    assertThat(number(b, "pool", "holds")).isZero();
    assertThat(number(a, "grants", "given")).isZero();
  }

  @Test
  void moreThanAnOwnerPinsAtOnceComesInSeveralGrants() {
    Manager a = manager("a", Map.of("max-pinned-bytes-per-peer", "64KiB"));
    Manager b = manager("b", Map.of());
    awaitPeers(a, b);
    ManagerClient writer = client(a);
    List<BlockName> names = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      publish(writer, "n" + i, 24 * KIB, i);
      names.add(name("n" + i));
    }
    try (BlockLease lease = client(b).queryAndWait(names, QueryOptions.FETCH.withPrefix(true))) {
      assertThat(lease.blocks()).hasSize(9);
      for (int i = 0; i < 9; i++) {
        assertBlock(lease, i, Origin.PEER, i);
      }
    }
    assertThat(number(a, "grants", "given")).isGreaterThanOrEqualTo(5);
    await("A's holds to end", () -> number(a, "pool", "holds") == 0);
    await("B's holds to end", () -> number(b, "pool", "holds") == 0);
  }

  @Test
  void aShutdownNamesWhatHasNoReceipt() {
    Manager a = manager("a", Map.of());
    Manager b = manager("b", Map.of());
    awaitPeers(a, b);
    publish(client(a), "x", 64 * KIB, 7);
    lever.shut();
    var reading = client(b).query(List.of(name("x")), QueryOptions.FETCH);
    await("the copy to stand still", () -> lever.stopped() == 1);
    managers.remove(a);
    ShutdownReport report = a.shutdown();
    assertThat(report.clean()).isFalse();
    assertThat(report.held()).singleElement().asString().contains("GrantId");
    lever.open();
    reading.join().close();
  }

  @Test
  void aSecondManagerOnTheSameSocketIsRefusedAndTheFirstServesOn() {
    Manager a = manager("a", Map.of());
    assertThatThrownBy(() -> manager("a", Map.of()))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining(folder.resolve("a.sock").toString());
    publish(client(a), "x", 4 * KIB, 1);
  }

  @Test
  void epochsAndEvidenceAreInTheStatus() {
    Manager a = manager("a", Map.of("membership", "none"));
    JsonObject self = status(a).getAsJsonObject("manager");
    assertThat(Epoch.parse(self.get("epoch").getAsString())).isNotEqualTo(Epoch.NONE);
    assertThat(self.get("control").getAsString()).isEmpty();
    assertThat(status(a).getAsJsonObject("receipts").has(Evidence.OWNER_EXITED.name())).isFalse();
  }
}
