package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.StrangePeer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A peer that can not be worked with is named, and costs nothing but its blocks (BB-35, BB-37). */
class PeerMismatchTest {
  @RegisterExtension final Rig rig = new Rig();

  // Guard: GrantAuthority.accept comparing the backends.
  @Test
  void anotherBackendIsRefusedNamingBoth() throws IOException {
    StrangePeer peer = rig.keep(StrangePeer.start("other-transport", StrangePeer.CONTROL_VERSION));
    refused(peer, "other-transport", "orbitte-tcp");
  }

  // Guard: ControlCodec.hello comparing the versions.
  @Test
  void anotherControlVersionIsRefusedNamingBoth() throws IOException {
    StrangePeer peer = rig.keep(StrangePeer.start("orbitte-tcp", 4711));
    refused(peer, "4711", Integer.toString(StrangePeer.CONTROL_VERSION));
  }

  private void refused(StrangePeer peer, String theirs, String ours) {
    ManagerProcess a = rig.manager("a", "--peers", peer.address());
    Await.until(
        "the log names " + theirs + " and " + ours,
        Duration.ofSeconds(15),
        () ->
            a.log()
                .lines()
                .anyMatch(
                    line ->
                        line.contains(peer.address())
                            && line.contains(theirs)
                            && line.contains(ours)));
    assertThat(a.status().json().getAsJsonArray("peers")).isEmpty();
    try (Engine engine = a.engine()) {
      List<Page> pages = Page.of(1, 1, 2, 4096).toList();
      assertThat(engine.read(pages, QueryOptions.FETCH)).isEmpty();
      engine.store(pages);
      assertThat(engine.read(pages, QueryOptions.FETCH)).hasSize(2);
    }
    assertThat(peer.asked()).isZero();
    a.awaitQuiet();
    assertThat(a.terminate(Duration.ofSeconds(15))).isZero();
  }
}
