package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.PublishResult.Status;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a client that behaves can do. */
final class RoundTripTest {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final long POOL = 64L << 20;

  private final Epoch epoch = Epoch.random();
  private ReferenceBlocks blocks;
  private LocalServer server;
  private Path socket;

  @BeforeEach
  void start(@TempDir Path directory) {
    socket = directory.resolve("m.sock");
    blocks = new ReferenceBlocks(POOL);
    server = LocalServer.start(socket, LocalOptions.DEFAULTS, epoch, blocks);
  }

  @AfterEach
  void stop() {
    server.close();
    blocks.close();
  }

  private ManagerClient connect() {
    return ManagerClient.connect(socket, ClientOptions.DEFAULTS);
  }

  static BlockName name(String text) {
    return BlockName.of("model", text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void publishedBytesComeBackUnchanged() {
    long seed = System.nanoTime();
    System.out.println("RoundTripTest seed " + seed);
    Random random = new Random(seed);
    int[] sizes = {1, 4_095, 4_096, 4_097, 2 << 20, 7};
    try (ManagerClient client = connect();
        RegisteredMemory memory = client.allocate(8 << 20)) {
      assertThat(client.managerEpoch()).isEqualTo(epoch);
      List<Piece> pieces = new ArrayList<>();
      List<BlockName> names = new ArrayList<>();
      long offset = 0;
      for (int i = 0; i < sizes.length; i++) {
        byte[] content = new byte[sizes[i]];
        random.nextBytes(content);
        MemorySegment.copy(
            content, 0, memory.segment(), ValueLayout.JAVA_BYTE, offset, content.length);
        names.add(name("block" + i));
        pieces.add(new Piece(names.get(i), memory, offset, sizes[i]));
        offset += sizes[i];
      }
      assertThat(client.publish(pieces, WAIT))
          .extracting(PublishResult::status)
          .containsOnly(Status.STORED)
          .hasSize(sizes.length);
      assertThat(client.publish(pieces, WAIT))
          .extracting(PublishResult::status)
          .containsOnly(Status.PRESENT);

      names.add(2, name("never published"));
      try (BlockLease lease = client.queryAndWait(names, QueryOptions.FETCH);
          Arena arena = Arena.ofConfined()) {
        assertThat(lease.blocks()).extracting(LeasedBlock::index).containsExactly(0, 1, 3, 4, 5, 6);
        assertThat(lease.blocks().get(1).origin()).isEqualTo(Origin.PEER);
        assertThat(lease.blocks().getFirst().origin()).isEqualTo(Origin.LOCAL);
        for (int i = 0; i < sizes.length; i++) {
          MemorySegment copy = arena.allocate(sizes[i]);
          lease.copyTo(lease.blocks().get(i), copy);
          MemorySegment sent = memory.segment().asSlice(pieces.get(i).offset(), sizes[i]);
          assertThat(copy.mismatch(sent)).isEqualTo(-1);
        }
        assertThat(blocks.leases()).isEqualTo(1);
      }
      Channel.await("the lease is released", () -> blocks.leases() == 0);
      try (BlockLease lease = client.queryAndWait(names, QueryOptions.LOCAL.withPrefix(true))) {
        assertThat(lease.blocks()).hasSize(2);
      }
      assertThat(client.status()).isEqualTo("{\"reference\":true}");
    }
  }

  @Test
  void everythingMissingIsAnEmptyLease() {
    try (ManagerClient client = connect();
        BlockLease lease = client.queryAndWait(List.of(name("x")), QueryOptions.LOCAL)) {
      assertThat(lease.blocks()).isEmpty();
      assertThat(lease.bytes()).isZero();
    }
    assertThat(blocks.leases()).isZero();
  }

  @Test
  void aFaultOfOneBlockIsThatBlocksOnly() {
    try (ManagerClient client = connect();
        RegisteredMemory memory = client.allocate(POOL + 4_096)) {
      List<PublishResult> results =
          client.publish(
              List.of(
                  Piece.of(name("too large"), memory), new Piece(name("small"), memory, 0, 4_096)),
              WAIT);
      assertThat(results.get(0).status()).isEqualTo(Status.FAULT);
      assertThat(results.get(0).code()).isEqualTo(FaultCode.EXHAUSTED);
      assertThat(results.get(0).detail()).contains("no room");
      assertThat(results.get(1).status()).isEqualTo(Status.STORED);
    }
  }

  @Test
  void copiesBeginOnlyBeforeExpiryAndClose() {
    blocks.leaseNanos(1);
    try (ManagerClient client = connect();
        RegisteredMemory memory = client.allocate(4_096);
        Arena arena = Arena.ofConfined()) {
      assertThat(client.publish(List.of(Piece.of(name("a"), memory)), WAIT)).hasSize(1);
      MemorySegment copy = arena.allocate(4_096);
      BlockLease expired = client.queryAndWait(List.of(name("a")), QueryOptions.LOCAL);
      assertThatThrownBy(() -> expired.copyTo(expired.blocks().getFirst(), copy))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.GRANT_ENDED));
      expired.close();
      assertThatThrownBy(expired::close).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> expired.copyTo(expired.blocks().getFirst(), copy))
          .isInstanceOf(IllegalStateException.class);

      blocks.leaseNanos(Duration.ofMinutes(1).toNanos());
      ManagerClient other = connect();
      BlockLease lease = other.queryAndWait(List.of(name("a")), QueryOptions.LOCAL);
      assertThatThrownBy(() -> lease.copyTo(lease.blocks().getFirst(), copy.asSlice(1)))
          .isInstanceOf(IndexOutOfBoundsException.class);
      other.close();
      assertThatThrownBy(() -> lease.copyTo(lease.blocks().getFirst(), copy))
          .isInstanceOf(IllegalStateException.class);
      assertThat(blocks.leases()).isZero();
    }
  }

  @Test
  void aQueryIsNotBehindAPublish() {
    CountDownLatch gate = new CountDownLatch(1);
    try (ManagerClient client = connect();
        RegisteredMemory memory = client.allocate(4_096)) {
      blocks.gate(gate);
      List<CompletableFuture<List<PublishResult>>> publishes = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        publishes.add(client.publish(List.of(Piece.of(name("p" + i), memory))).future());
      }
      client.queryAndWait(List.of(name("p0")), QueryOptions.LOCAL).close();
      assertThat(publishes).noneMatch(CompletableFuture::isDone);
      gate.countDown();
      for (CompletableFuture<List<PublishResult>> publish : publishes) {
        assertThat(publish.join().getFirst().status()).isEqualTo(Status.STORED);
      }
    }
  }

  @Test
  void aCancelledQueryReleasesWhatComesLater() {
    try (ManagerClient client = connect();
        RegisteredMemory memory = client.allocate(4_096)) {
      assertThat(client.publish(List.of(Piece.of(name("a"), memory)), WAIT)).hasSize(1);
      blocks.holdReads();
      CompletableFuture<BlockLease> found = client.query(List.of(name("a")), QueryOptions.LOCAL);
      Channel.await("the read arrives", () -> blocks.heldReads() == 1);
      assertThat(found.cancel(false)).isTrue();
      blocks.answerReads(client.session(), List.of(name("a")));
      Channel.await("its lease is released", () -> blocks.leases() == 0);
      client.status();
    }
  }

  @Test
  void nothingIsLeftOpen() {
    connect().close();
    Channel.await("the session ends", () -> server.sessions() == 0);
    int before = Channel.openDescriptors();
    for (int i = 0; i < 100; i++) {
      try (ManagerClient client = connect();
          RegisteredMemory memory = client.allocate(4_096)) {
        assertThat(memory.bytes()).isEqualTo(4_096);
      }
    }
    Channel.await("sessions end", () -> server.sessions() == 0);
    Channel.await("descriptors are closed", () -> Channel.openDescriptors() <= before);
    assertThat(Channel.engineMappings()).isZero();
  }

  @Test
  void blockingCallsRefuseTheReaderThread() {
    try (ManagerClient client = connect()) {
      blocks.holdReads();
      CompletableFuture<BlockLease> found = client.query(List.of(name("a")), QueryOptions.LOCAL);
      Channel.await("the read arrives", () -> blocks.heldReads() == 1);
      CompletableFuture<String> nested = found.thenApply(_ -> client.status());
      blocks.answerReads(client.session(), List.of(name("a")));
      assertThatThrownBy(nested::join).hasRootCauseInstanceOf(IllegalStateException.class);
      assertThat(client.status()).isNotEmpty();
    }
  }
}
