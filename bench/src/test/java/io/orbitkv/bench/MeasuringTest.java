package io.orbitkv.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.tck.reference.Defect;
import io.orbitkv.tck.reference.Lever;
import io.orbitkv.tck.reference.ReferenceProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Owner and requester in one process, over the kit's reference transport. */
class MeasuringTest {
  private static final long POOL_BYTES = 8 << 20;
  private static final double WARM_UP = 0.02;
  private static final double SECONDS = 0.1;

  private final Lever lever = new Lever();
  private final OwnerServer server = serve(new ReferenceProvider(lever));

  private OwnerServer serve(TransportProvider provider) {
    OwnerServer listening =
        OwnerServer.listen(
            provider, Map.of(), new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    Thread.ofPlatform().daemon().name("owner").start(listening::serve);
    return listening;
  }

  @AfterEach
  void end() {
    server.close();
  }

  private OwnerLink connect() {
    return OwnerLink.connect(server.address(), "reference", POOL_BYTES);
  }

  private Requester open(OwnerLink owner, Defect... defects) {
    return Requester.open(
        new ReferenceProvider(lever, Set.of(defects)), Map.of(), owner, POOL_BYTES);
  }

  @Test
  void everyStepOfAnOperationIsMeasured() throws Exception {
    try (OwnerLink owner = connect();
        Requester requester = open(owner)) {
      Sample sample = requester.measure(LoopShape.random(16 << 10, 10, 2), WARM_UP, SECONDS);

      assertThat(sample.errors()).isZero();
      assertThat(sample.batch()).isEqualTo(10);
      assertThat(sample.operations()).isPositive();
      assertThat(sample.gbps()).isPositive();
      assertThat(sample.threadGbps()).hasSize(2).allMatch(rate -> rate > 0);
      assertThat(sample.whole().p50()).isLessThanOrEqualTo(sample.whole().p999());
      double steps =
          sample.prepare().mean()
              + sample.post().mean()
              + sample.transfer().mean()
              + sample.receipt().mean();
      assertThat(steps).isCloseTo(sample.whole().mean(), within(sample.whole().mean() * 0.01));
    }
  }

  private static Offset<Double> within(double most) {
    return Offset.offset(most);
  }

  /** Guard: what exceeds a READ is split, and is one operation. */
  @Test
  void operationLargerThanOneReadIsSplitAndCountedOnce() throws Exception {
    Map<String, String> fewPieces = Map.of("reference-max-pieces", "3");
    try (OwnerLink owner = connect();
        Requester requester =
            Requester.open(new ReferenceProvider(lever), fewPieces, owner, POOL_BYTES)) {
      Sample sample = requester.measure(LoopShape.random(4096, 10, 1), WARM_UP, SECONDS);

      assertThat(sample.errors()).isZero();
      assertThat(sample.batch()).isEqualTo(10);
      assertThat(requester.measure(new LoopShape(4096, 10, 8192, 1), 0, 0.01).errors()).isZero();
    }
  }

  /** Guard: the pattern check; with {@code isSampleRight} always true nothing is noticed. */
  @Test
  void wrongBytesAreErrors() throws Exception {
    try (OwnerLink owner = connect();
        Requester requester = open(owner, Defect.STRIDE_IGNORED)) {
      Sample strided = requester.measure(new LoopShape(4096, 100, 8192, 1), WARM_UP, SECONDS);
      Sample random = requester.measure(LoopShape.random(4096, 1, 1), WARM_UP, SECONDS);

      assertThat(strided.errors()).isPositive();
      assertThat(random.errors()).isZero();
    }
  }

  @Test
  void javaLoopMovesTheSameBlocks() throws Exception {
    try (OwnerLink owner = connect();
        Requester requester = open(owner)) {
      Sample sample =
          requester.javaLoop().measure(LoopShape.random(4096, 1500, 1), WARM_UP, SECONDS);

      assertThat(sample.errors()).isZero();
      assertThat(sample.batch()).isEqualTo(1500);
      assertThat(sample.gbps()).isPositive();
    }
  }

  @Test
  void everyWayOfTheCLoopMovesTheSameBlocks() throws Exception {
    assumeTrue(SocketLoopClient.possible(), "there is no C compiler here");
    try (OwnerLink owner = connect();
        SocketLoopClient loop = SocketLoopClient.start(owner, POOL_BYTES)) {
      for (Contender way : loop.sleepingWays()) {
        for (LoopShape shape :
            new LoopShape[] {
              LoopShape.random(4096, 1500, 1),
              LoopShape.random(1 << 20, 1, 4),
              new LoopShape(4096, 100, 8192, 1)
            }) {
          Sample sample = way.measure(shape, WARM_UP, SECONDS);

          assertThat(sample.errors()).as("%s %s", way.name(), shape).isZero();
          assertThat(sample.batch()).isEqualTo(shape.batch());
          assertThat(sample.threadGbps()).hasSize(shape.threads()).allMatch(rate -> rate > 0);
          assertThat(sample.cpuSecondsPerGb()).isPositive();
        }
      }
      assertThat(loop.pollingWay().measure(LoopShape.random(4096, 1, 1), 0, 0.02).errors())
          .isZero();
    }
  }

  @Test
  void everyRequesterOfAFanInIsMeasured() throws Exception {
    try (OwnerLink owner = connect();
        FanIn requesters =
            FanIn.open(new ReferenceProvider(lever), Map.of(), owner, 3, POOL_BYTES / 4)) {
      Sample sample = requesters.measure(LoopShape.random(64 << 10, 4, 3), WARM_UP, SECONDS);

      assertThat(sample.errors()).isZero();
      assertThat(sample.threadGbps()).hasSize(3).allMatch(rate -> rate > 0);
      assertThat(Fairness.jain(sample.threadGbps())).isBetween(0.33, 1.0);
    }
  }

  @Test
  void ownerOfAnotherProviderIsRefused() {
    assertThatThrownBy(() -> OwnerLink.connect(server.address(), "other", POOL_BYTES))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("asked for provider other")
        .hasMessageContaining("this is reference");
  }

  @Test
  void jainIsOneForEqualSharesAndOneInNForOneAlone() {
    assertThat(Fairness.jain(List.of(2.0, 2.0, 2.0, 2.0))).isEqualTo(1);
    assertThat(Fairness.jain(List.of(5.0, 0.0, 0.0, 0.0))).isEqualTo(0.25);
    assertThat(Fairness.slowest(List.of(1.0, 3.0))).isEqualTo(0.5);
  }
}
