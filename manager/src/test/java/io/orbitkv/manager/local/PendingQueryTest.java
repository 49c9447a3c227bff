package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.PendingQuery;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A query that its client asks after, and takes back. */
@Timeout(120)
final class PendingQueryTest {
  private static final BlockName NAME = BlockName.of("model", new byte[] {1});

  private ReferenceBlocks blocks;
  private LocalServer server;
  private ManagerClient client;

  @BeforeEach
  void start(@TempDir Path directory) {
    Path socket = directory.resolve("m.sock");
    blocks = new ReferenceBlocks(1 << 20);
    blocks.publish(NAME, MemorySegment.ofArray(new byte[64]), false);
    server = LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks);
    client = ManagerClient.connect(socket, ClientOptions.DEFAULTS.withTimeout(Channel.LIMIT));
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
    blocks.close();
  }

  // Guard: the request id in PendingQuery.ask. With another one it is neither pending nor won.
  @Test
  void isPolledWhileItIsPendingAndTakenBack() {
    blocks.holdReads();
    PendingQuery other = client.submitQuery(List.of(NAME), QueryOptions.LOCAL);
    PendingQuery query = client.submitQuery(List.of(NAME), QueryOptions.LOCAL);
    assertThat(query.poll()).isTrue();
    assertThat(query.result()).isNotDone();
    assertThat(query.cancel()).isTrue();
    assertThatThrownBy(() -> query.result().get(20, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.CANCELLED));
    assertThat(query.poll()).isFalse();
    assertThat(query.cancel()).as("a second time").isFalse();

    assertThat(other.poll()).as("the other one goes on").isTrue();
    blocks.answerReads(client.session(), List.of(NAME));
    try (BlockLease lease = other.result().join()) {
      assertThat(lease.blocks()).hasSize(1);
      Channel.await("nothing is pinned for the cancelled one", () -> blocks.leases() == 1);
    }
    Channel.await("the lease is released", () -> blocks.leases() == 0);
  }

  // Guard: WON in PendingQuery.cancel. With every answer taken for it the caller drops its lease.
  @Test
  void whatWasAnsweredIsNotTakenBack() throws Exception {
    PendingQuery query = client.submitQuery(List.of(NAME), QueryOptions.LOCAL);
    BlockLease lease = query.result().get(20, TimeUnit.SECONDS);
    assertThat(query.poll()).isFalse();
    assertThat(query.cancel()).isFalse();
    assertThat(lease.blocks()).hasSize(1);
    assertThat(blocks.leases()).isEqualTo(1);
    lease.close();
    Channel.await("the lease is released", () -> blocks.leases() == 0);
  }

  // Guard: refuseOwnThreads in Connection.command. Without it the thread waits for itself.
  @Test
  void refusesTheThreadThatCompletesFutures() {
    blocks.holdReads();
    PendingQuery query = client.submitQuery(List.of(NAME), QueryOptions.LOCAL);
    CompletableFuture<Boolean> asked =
        query
            .result()
            .thenApply(
                lease -> {
                  lease.close();
                  return query.poll();
                });
    blocks.answerReads(client.session(), List.of(NAME));
    assertThatThrownBy(() -> asked.get(20, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void ofAClosedClientFails() {
    client.close();
    PendingQuery query = client.submitQuery(List.of(NAME), QueryOptions.LOCAL);
    assertThat(query.result()).isCompletedExceptionally();
    assertThatThrownBy(query::cancel)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST));
  }
}
