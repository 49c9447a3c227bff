package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A box between the Managers that forgets connections which were idle for too long and tells nobody
 * (BB-19). An hour is two seconds here.
 */
class LongIdleTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final Duration IDLE = Duration.ofSeconds(2);
  private static final QueryOptions READ = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(8));

  @RegisterExtension final Rig rig = new Rig();

  // Guard: ProgressWatch ending the lanes on which no byte came, so that the next read connects
  // again instead of writing into what is forgotten.
  @Test
  void firstReadAfterItWorksOrTheOneBehindIt() {
    Rig.ProxiedPair pair = rig.proxied("--transfer-progress-timeout", "2s");
    read(pair, 1);
    pair.data().forgetIdle(IDLE);
    Await.until("the payload connections are forgotten", SOON, pair.data()::forgotten);

    List<Page> pages = stored(pair.a(), 2);
    try (Engine reader = pair.b().engine()) {
      if (reader.read(pages, READ).isEmpty()) {
        assertThat(reader.read(pages, READ)).hasSize(pages.size());
      }
    }
    quiet(pair);
  }

  // Guard: the keep-alive of the control stream, which finds that nobody answers, and AddressLink,
  // which connects again by itself.
  @Test
  void controlStreamThatIsForgottenIsMadeAgain() {
    Rig.ProxiedPair pair = rig.proxied("--transfer-progress-timeout", "2s");
    read(pair, 1);
    pair.control().forgetIdle(IDLE);
    pair.data().forgetIdle(IDLE);
    Await.until("the control stream is forgotten", SOON, pair.control()::forgotten);
    Await.until("the payload connections are forgotten", SOON, pair.data()::forgotten);
    // Forgets no more: what is connected from now on has an hour.
    pair.control().forgetIdle(Duration.ofHours(1));
    pair.data().forgetIdle(Duration.ofHours(1));

    List<Page> pages = stored(pair.a(), 2);
    try (Engine reader = pair.b().engine()) {
      Await.until(
          "B reads from A again",
          SOON,
          () -> reader.read(pages, READ).size() == pages.size(),
          pair.b()::log);
    }
    quiet(pair);
  }

  private static void read(Rig.ProxiedPair pair, int request) {
    List<Page> pages = stored(pair.a(), request);
    try (Engine reader = pair.b().engine()) {
      assertThat(reader.read(pages, READ)).hasSize(pages.size());
    }
    quiet(pair);
  }

  private static List<Page> stored(ManagerProcess a, int request) {
    List<Page> pages = Page.of(request, 1, 8, 1 << 20).toList();
    try (Engine engine = a.engine()) {
      engine.store(pages);
    }
    return pages;
  }

  private static void quiet(Rig.ProxiedPair pair) {
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }
}
