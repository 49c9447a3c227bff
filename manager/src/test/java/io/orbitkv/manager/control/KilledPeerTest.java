package io.orbitkv.manager.control;

import static io.orbitkv.manager.control.ControlPlane.ask;
import static io.orbitkv.manager.control.ControlPlane.block;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.ControlPlane.Requester;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A peer that is killed, and another incarnation at its address. */
class KilledPeerTest {
  @Test
  void whatWaitsFailsAtOnceAndTheNextIncarnationIsUpByItself() throws Exception {
    ScriptedManager a = new ScriptedManager("a:1");
    try (ControlPlane plane = new ControlPlane();
        OwnerProcess killed = OwnerProcess.start(0, true)) {
      Duration longer = Duration.ofMinutes(10);
      Requester requester =
          plane.requester(a, longer, ControlSecurity.plaintext(), "127.0.0.1:" + killed.port());
      ControlPlane.Event up = requester.next("up");
      Epoch first = up.hello().managerEpoch();
      CompletableFuture<GrantOffer> waiting = up.link().authorize(ask(a, 1, up.hello()));

      long start = System.nanoTime();
      killed.kill();
      assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
          .cause()
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.PEER_LOST))
          .hasMessageContaining("127.0.0.1:" + killed.port());
      long failed = System.nanoTime();
      requester.next("down");
      try (OwnerProcess successor = OwnerProcess.start(killed.port(), false)) {
        long started = System.nanoTime();
        ControlPlane.Event again = requester.next("up");
        long seen = System.nanoTime();
        assertThat(successor.port()).isEqualTo(killed.port());
        assertThat(again.hello().managerEpoch()).isNotEqualTo(first);
        assertThat(again.link().locate(List.of(block(1))).get(20, TimeUnit.SECONDS)).hasSize(1);
        System.out.printf(
            "killed peer: failed after %d ms; next incarnation up %d ms after it listened%n",
            (failed - start) / 1_000_000, (seen - started) / 1_000_000);
      }
    }
  }
}
