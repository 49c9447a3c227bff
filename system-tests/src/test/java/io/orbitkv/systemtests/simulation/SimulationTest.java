package io.orbitkv.systemtests.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.orbitkv.manager.memory.LentArenas;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/**
 * No allocation is reused while a byte can still move, whatever is lost, late, doubled, overtaken,
 * frozen, cancelled or restarted. Each schedule is one seed; {@code -Dorbitkv.simulation.seed=N}
 * runs that one alone, with its trace, and {@code -Dorbitkv.simulation.mutant=NAME} breaks a rule
 * in it. A failure prints the whole command.
 */
class SimulationTest {
  private static final int SCHEDULES = 10_000;
  private static final int MANY_SCHEDULES = 1_000_000;
  private static final int MUTANT_SCHEDULES = 20_000;
  private static final String SEED = "orbitkv.simulation.seed";
  private static final String MUTANT = "orbitkv.simulation.mutant";
  private static final String REPLAY =
      "mvn verify -pl system-tests -am -Dsurefire.failIfNoSpecifiedTests=false"
          + " -Dtest=SimulationTest#noMemoryIsReusedWhileAByteCanStillMove";

  private static final Logger MANAGER_LOG = (Logger) LoggerFactory.getLogger("io.orbitkv.manager");
  private static Level levelBefore;

  /** What some schedules came to together. */
  private record Total(long schedules, long answers, long blocks) {
    Total plus(Total other) {
      return new Total(schedules + other.schedules, answers + other.answers, blocks + other.blocks);
    }
  }

  private record Found(long seed, Violation violation) {
    String replay() {
      return command(seed, Mutant.NONE);
    }
  }

  @BeforeAll
  static void silenceTheManagers() {
    levelBefore = MANAGER_LOG.getLevel();
    MANAGER_LOG.setLevel(Level.OFF);
  }

  @AfterAll
  static void letThemSpeakAgain() {
    MANAGER_LOG.setLevel(levelBefore);
  }

  @Test
  void noMemoryIsReusedWhileAByteCanStillMove() throws Exception {
    String one = System.getProperty(SEED);
    if (one != null) {
      replay(Long.parseLong(one), Mutant.valueOf(System.getProperty(MUTANT, Mutant.NONE.name())));
    } else {
      explore(SCHEDULES);
    }
  }

  @Test
  @Tag("slow")
  void noMemoryIsReusedInManySchedules() throws Exception {
    explore(MANY_SCHEDULES);
  }

  @Test
  void aSeedReplaysItsScheduleExactly() {
    long base = ThreadLocalRandom.current().nextLong();
    System.out.println("simulation: base seed " + base);
    try (LentArenas arenas = new LentArenas()) {
      for (long seed = base; seed < base + 20; seed++) {
        assertThat(trace(seed, Mutant.NONE, arenas)).isEqualTo(trace(seed, Mutant.NONE, arenas));
      }
    }
  }

  /** The guard is the oracle: without any one of its checks some mutant lives. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void eachBrokenRuleIsFound(Mutant mutant) {
    long base = ThreadLocalRandom.current().nextLong();
    try (LentArenas arenas = new LentArenas()) {
      for (int i = 0; i < MUTANT_SCHEDULES; i++) {
        try {
          Schedule.run(base + i, mutant, new Trace(false), arenas);
        } catch (Violation e) {
          System.out.println(
              "simulation: "
                  + mutant
                  + " found by seed "
                  + (base + i)
                  + ", schedule "
                  + (i + 1)
                  + ": "
                  + e.getMessage()
                  + "; replay: "
                  + command(base + i, mutant));
          return;
        }
      }
    }
    fail("%s was not found in %d schedules from seed %d".formatted(mutant, MUTANT_SCHEDULES, base));
  }

  private static void replay(long seed, Mutant mutant) {
    System.out.println("simulation: seed " + seed + " again, mutant " + mutant);
    try (LentArenas arenas = new LentArenas()) {
      trace(seed, mutant, arenas).forEach(System.out::println);
      Schedule.run(seed, mutant, new Trace(false), arenas);
    }
  }

  private static String command(long seed, Mutant mutant) {
    String command = REPLAY + " -D" + SEED + "=" + seed;
    return mutant == Mutant.NONE ? command : command + " -D" + MUTANT + "=" + mutant;
  }

  private static List<String> trace(long seed, Mutant mutant, LentArenas arenas) {
    Trace trace = new Trace(true);
    try {
      Schedule.run(seed, mutant, trace, arenas);
    } catch (Violation e) {
      // It is the last line of the trace.
      return trace.lines();
    }
    return trace.lines();
  }

  private static void explore(int schedules) throws Exception {
    long base = ThreadLocalRandom.current().nextLong();
    System.out.println("simulation: " + schedules + " schedules from base seed " + base);
    int threads = Runtime.getRuntime().availableProcessors();
    AtomicBoolean stop = new AtomicBoolean();
    List<Found> found = java.util.Collections.synchronizedList(new ArrayList<>());
    long begin = System.nanoTime();
    Total total = new Total(0, 0, 0);
    try (ExecutorService workers = Executors.newFixedThreadPool(threads)) {
      List<Future<Total>> shares = new ArrayList<>();
      for (int worker = 0; worker < threads; worker++) {
        int first = worker;
        Callable<Total> share = () -> share(base, first, threads, schedules, stop, found);
        shares.add(workers.submit(share));
      }
      for (Future<Total> share : shares) {
        total = total.plus(share.get());
      }
    }
    System.out.printf(
        "simulation: %s, %d violations, %d ms%n",
        total, found.size(), (System.nanoTime() - begin) / 1_000_000);
    for (Found one : found) {
      tell(one);
    }
    assertThat(
            found.stream().map(one -> one.violation().getMessage() + "; replay: " + one.replay()))
        .as("violations")
        .isEmpty();
    assertThat(total.blocks()).as("blocks that were read").isGreaterThan(schedules);
  }

  private static Total share(
      long base, int first, int stride, int schedules, AtomicBoolean stop, List<Found> found) {
    long answers = 0;
    long blocks = 0;
    long run = 0;
    try (LentArenas arenas = new LentArenas()) {
      for (int i = first; i < schedules && !stop.get(); i += stride) {
        try {
          Schedule.Result result = Schedule.run(base + i, Mutant.NONE, new Trace(false), arenas);
          answers += result.answers();
          blocks += result.blocksRead();
          run++;
        } catch (Violation e) {
          found.add(new Found(base + i, e));
          stop.set(true);
        }
      }
    }
    return new Total(run, answers, blocks);
  }

  private static void tell(Found one) {
    System.out.println("simulation: seed " + one.seed() + ": " + one.violation().getMessage());
    try (LentArenas arenas = new LentArenas()) {
      trace(one.seed(), Mutant.NONE, arenas).forEach(System.out::println);
    }
    one.violation().printStackTrace(System.out);
  }
}
