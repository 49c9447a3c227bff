package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.PlanCancellation;
import io.orbitkv.adapter.PlanReport.State;
import io.orbitkv.adapter.RestorePlan;
import io.orbitkv.adapter.Role;
import io.orbitkv.adapter.restore.EngineState;
import io.orbitkv.adapter.restore.RestoreWord;
import io.orbitkv.manager.Manager;
import io.orbitkv.manager.plan.Site;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Words that a hostile engine process stores for plans that were granted to its instance: what can
 * not be told from a copy under way keeps its blocks until that very process has exited, and
 * nothing else does.
 */
@Timeout(180)
final class HostileClaimsTest {
  private static final int PLANS_OF_EACH = 8;
  private static final int POOL_BLOCKS = 16;

  /** So short that all plans together are less than may be promised. */
  private static final int BYTES = 4_096;

  /** From here on no code is that of a state. */
  private static final int NO_CODE = 16;

  private enum Script {
    /** A state of another generation says nothing about this one. */
    OTHER_GENERATION(false),
    /** A code that no state has. */
    NO_STATE(true),
    /** Claimed, and no end. */
    ACTIVE(true),
    /** Back to what cannot follow a claim. */
    ACTIVE_THEN_NONE(true),
    ACTIVE_THEN_DRAINED(false),
    /** The claim was stored and its end too before anybody looked. */
    DRAINED(false);

    final boolean keeps;

    Script(boolean keeps) {
      this.keeps = keeps;
    }
  }

  private record Attacked(Script script, RestorePlan plan) {}

  @TempDir private Path folder;
  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  // Guards: SessionWords.distrust, without which a broken word ends its plan; and the generation in
  // EngineState.read, without which that of another one does, or keeps it.
  @Test
  void wordsThatMayMeanACopyKeepTheirBlocksUntilTheProcessIsGone() throws IOException {
    System.out.println("HostileClaimsTest seed " + seed);
    Path socket = folder.resolve("m.sock");
    Manager manager = Site.manager(socket);
    Process hostile = EngineMain.start("scribbler", socket);
    try (ManagerClient scheduler = Site.client(socket, Role.SCHEDULER);
        ManagerClient honest = Site.client(socket, Role.WORKER);
        BufferedReader says = hostile.inputReader(StandardCharsets.UTF_8);
        Writer told = hostile.outputWriter(StandardCharsets.UTF_8)) {
      assertThat(says.readLine()).isEqualTo("ready");
      Site.publish(scheduler, 0, 1, BYTES);
      List<Attacked> attacked = new ArrayList<>();
      for (Script script : shuffled()) {
        RestorePlan plan = scheduler.plans().promise(Site.names(1), Site.LOCAL, 1).orElseThrow();
        attack(script, plan, says, told);
        attacked.add(new Attacked(script, plan));
        RestorePlan other = scheduler.plans().promise(Site.names(1), Site.LOCAL, 1).orElseThrow();
        Site.assertRestores(honest.plans().redeem(other.record(), other.generation()));
      }
      for (Attacked one : attacked) {
        assertThat(one.plan().cancel() == PlanCancellation.LOST_TO_ACTIVE)
            .as("%s keeps its block, seed %d", one.script(), seed)
            .isEqualTo(one.script().keeps);
      }
      long kept = attacked.stream().filter(one -> one.script().keeps).count();
      assertThat(Site.planHolds(scheduler)).as("seed %d", seed).isEqualTo(kept);
      hostile.destroyForcibly();
      Site.await("its exit ends the rest", () -> Site.openPlans(scheduler) == 0);
      assertThat(Site.planHolds(scheduler)).isZero();
      Site.publish(scheduler, 1, POOL_BLOCKS, Site.BLOCK);
    } finally {
      hostile.destroyForcibly().onExit().join();
      manager.shutdown();
    }
  }

  private List<Script> shuffled() {
    List<Script> all = new ArrayList<>();
    for (int i = 0; i < PLANS_OF_EACH; i++) {
      all.addAll(List.of(Script.values()));
    }
    Collections.shuffle(all, random);
    return all;
  }

  private void attack(Script script, RestorePlan plan, BufferedReader says, Writer told)
      throws IOException {
    long generation = plan.generation();
    long word =
        switch (script) {
          case OTHER_GENERATION -> {
            long other = 1 + random.nextLong(RestoreWord.MAX_GENERATION);
            yield anyState().word(other == generation ? generation + 1 : other);
          }
          case NO_STATE -> generation << Byte.SIZE | NO_CODE + random.nextInt(256 - NO_CODE);
          case ACTIVE, ACTIVE_THEN_NONE, ACTIVE_THEN_DRAINED -> EngineState.ACTIVE.word(generation);
          case DRAINED -> EngineState.DRAINED.word(generation);
        };
    store(plan, word, says, told);
    if (script == Script.ACTIVE_THEN_NONE || script == Script.ACTIVE_THEN_DRAINED) {
      Site.await("the claim is seen", () -> plan.observe().state() == State.ACTIVE);
      EngineState next = script == Script.ACTIVE_THEN_NONE ? EngineState.NONE : EngineState.DRAINED;
      store(plan, next.word(generation), says, told);
    }
  }

  private EngineState anyState() {
    List<EngineState> all = List.of(EngineState.values());
    return all.get(random.nextInt(all.size()));
  }

  private static void store(RestorePlan plan, long word, BufferedReader says, Writer told)
      throws IOException {
    told.write(plan.record() + " " + word + "\n");
    told.flush();
    assertThat(says.readLine()).isEqualTo("stored");
  }
}
