package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.spi.Peer;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The end of one connection says nothing about the next one of its lane. */
final class LaneConnectionTest {
  private static final int BYTES = 4_096;

  @Test
  void aLateEndLeavesTheSuccessorAlone() {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "1")) {
      Reads reads = new Reads(owner, requester);
      assertThat(reads.read()).isEqualTo(Outcome.COMPLETED);
      Lane lane = ((TcpPeer) reads.peer).lanes().getFirst();
      LaneConnection first = Objects.requireNonNull(lane.connection());
      lane.shutdown("ended by the test");
      Await.until("down", () -> lane.connection() == null);
      Await.until("again", () -> reads.read().completed());
      // Guard: the reason is the connection's; as the lane's it would stop every send for ever.
      first.shutdown("ended too late");
      assertThat(reads.read()).isEqualTo(Outcome.COMPLETED);
      assertThat(requester.context.meter("connection_failures")).isEqualTo(1);
    }
  }

  @Test
  void aConnectionThatCanNotBeMadeSaysWhy() {
    try (Host requester = Host.open("connections", "1")) {
      Host owner = Host.open();
      Reads reads = new Reads(owner, requester);
      assertThat(reads.read()).isEqualTo(Outcome.COMPLETED);
      Lane lane = ((TcpPeer) reads.peer).lanes().getFirst();
      lane.shutdown("ended by the test");
      Await.until("down", () -> requester.context.meter("outgoing_connections") == 0);
      owner.close();
      // Guard: as above; else it fails with the end of the connection before.
      assertThat(reads.read())
          .isInstanceOfSatisfying(
              Outcome.Failed.class,
              failed ->
                  assertThat(failed.message())
                      .contains("refused")
                      .doesNotContain("ended by the test"));
    }
  }

  /** Reads of one block, one after the other. */
  private static final class Reads {
    private final Host requester;
    private final Region target;
    private final Peer peer;
    private final RemoteRegion remote;

    Reads(Host owner, Host requester) {
      this.requester = requester;
      Region source = owner.filled(BYTES, 5);
      target = requester.registered(BYTES);
      peer = requester.connect(owner);
      remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
    }

    Outcome read() {
      var ticket =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(Descriptor.of(target.id(), 0, BYTES), RemoteDescriptor.of(0, 0, BYTES))
                  .build());
      Outcome outcome = Host.outcome(ticket);
      requester.spend(ticket);
      return outcome;
    }
  }
}
