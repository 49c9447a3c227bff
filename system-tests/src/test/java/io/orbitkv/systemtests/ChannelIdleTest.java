package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.systemtests.rig.EngineMain;
import io.orbitkv.systemtests.rig.EngineProcess;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.ThreadUse;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A channel that nobody uses costs nothing, at either end, each in a process of its own. */
final class ChannelIdleTest {
  private static final int SECONDS = 10;
  private static final int ATTEMPTS = 6;
  private static final double MOST_OF_A_CORE = 0.005;
  private static final Duration WHILE = Duration.ofSeconds(SECONDS);

  @RegisterExtension final Rig rig = new Rig();

  // Guards: the poll without a timeout in SessionRing, and the wait without one in Teller: with one
  // of 1 s those threads give their processor up ten times. What is measured is a count and not a
  // time: other processes of this host do not change it. Attempts are for the end of the warm-up.
  @Test
  void noThreadOfTheChannelWakesInTenSeconds() throws Exception {
    ManagerProcess manager = rig.manager("a", "--membership", "none");
    EngineProcess engine = rig.engineProcess(manager.socket(), EngineMain.IDLE).awaitWord("idle");
    Map<String, Long> woken = Map.of("not measured", 1L);
    double managers = 1;
    double engines = 1;
    for (int i = 0; i < ATTEMPTS && !quiet(woken, managers, engines); i++) {
      ThreadUse managerBefore = ThreadUse.of(manager.pid());
      ThreadUse engineBefore = ThreadUse.of(engine.pid());
      TimeUnit.SECONDS.sleep(SECONDS); // what is measured
      ThreadUse managerAfter = ThreadUse.of(manager.pid());
      ThreadUse engineAfter = ThreadUse.of(engine.pid());
      assertThat(managerAfter.switches().keySet())
          .anyMatch(name -> name.contains("orbitkv-ring"))
          .anyMatch(name -> name.contains("orbitkv-session"));
      assertThat(engineAfter.switches().keySet()).anyMatch(name -> name.contains("orbitkv-"));
      woken = new TreeMap<>(managerAfter.since(managerBefore));
      woken.putAll(engineAfter.since(engineBefore));
      managers = managerAfter.coresSince(managerBefore, WHILE);
      engines = engineAfter.coresSince(engineBefore, WHILE);
      System.out.printf(
          "ChannelIdleTest: woken %s, cores: Manager %.4f, engine %.4f%n",
          woken, managers, engines);
    }
    assertThat(woken).isEmpty();
    assertThat(managers).isLessThanOrEqualTo(MOST_OF_A_CORE);
    assertThat(engines).isLessThanOrEqualTo(MOST_OF_A_CORE);
  }

  private static boolean quiet(Map<String, Long> woken, double managers, double engines) {
    return woken.isEmpty() && managers <= MOST_OF_A_CORE && engines <= MOST_OF_A_CORE;
  }
}
