package io.orbitkv.manager.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.TicketId;
import io.orbitkv.manager.control.ControlPlane.Requester;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How long an Authorize takes between two processes over loopback; prints figures. */
@Tag("slow")
class AuthorizeLatencyTest {
  private static final int WARMING = 20_000;
  private static final int PAUSE_SECONDS = 3;
  private static final int MEASURED = 20_000;

  @Test
  void oneAuthorizeAtATime() throws Exception {
    ScriptedManager a = new ScriptedManager("a:1");
    try (ControlPlane plane = new ControlPlane();
        OwnerProcess owner = OwnerProcess.start(0, false)) {
      Requester requester = plane.requester(a, "127.0.0.1:" + owner.port());
      ControlPlane.Event up = requester.next("up");
      // As in a Manager, whose first READ comes some time after its first peer.
      TimeUnit.SECONDS.sleep(PAUSE_SECONDS);
      long[] nanos = new long[WARMING + MEASURED];
      for (int i = 0; i < nanos.length; i++) {
        GrantRequest request =
            new GrantRequest(
                new TicketId(i, a.epoch),
                a.self.transportEpoch(),
                up.hello().transportEpoch(),
                List.of(ControlPlane.block(1, 2, 3, 4)));
        long start = System.nanoTime();
        GrantOffer offer = up.link().authorize(request).get(20, TimeUnit.SECONDS);
        nanos[i] = System.nanoTime() - start;
        assertThat(offer.ranges()).hasSize(1);
      }
      long[] first = Arrays.copyOf(nanos, 100);
      System.out.printf("authorize, first: %.1f us%n", nanos[0] / 1e3);
      print("authorize, calls 1 to 100", first);
      print("authorize, calls 101 to 1,000", Arrays.copyOfRange(nanos, 100, 1_000));
      print("authorize, warm", Arrays.copyOfRange(nanos, WARMING, nanos.length));
    }
  }

  private static void print(String what, long[] nanos) {
    Arrays.sort(nanos);
    System.out.printf(
        "%s: p50 %.1f us, p99 %.1f us%n",
        what, nanos[nanos.length / 2] / 1e3, nanos[nanos.length * 99 / 100] / 1e3);
  }
}
