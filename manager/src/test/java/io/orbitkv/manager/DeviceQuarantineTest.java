package io.orbitkv.manager;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.plan.PlanLayout;
import io.orbitkv.adapter.plan.PlanMemory;
import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.EngineState;
import io.orbitkv.adapter.restore.MappedWord;
import io.orbitkv.adapter.wire.SharedMapping;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.catalog.LeaseTable;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.memory.Pool;
import io.orbitkv.manager.plan.Instances;
import io.orbitkv.manager.plan.Member;
import io.orbitkv.manager.plan.Plan;
import io.orbitkv.manager.plan.PlanCancel;
import io.orbitkv.manager.plan.PlanKind;
import io.orbitkv.manager.plan.PlanRequest;
import io.orbitkv.manager.plan.PlanState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What becomes of a plan whose engine exits while a device may copy, over a real pool. */
class DeviceQuarantineTest {
  private static final BlockName NAME = BlockName.of("test", new byte[] {1});

  private static Plan ask(Member asker, Pool pool, Catalog catalog, LeaseTable leases) {
    Hold hold = catalog.hold(NAME, HoldKind.LEASE, "session").orElseThrow();
    long lease = leases.grant(1, List.of(hold)).orElseThrow().id();
    List<Long> generations = List.of(hold.allocation().generation());
    List<Plan> granted = new ArrayList<>();
    PlanRequest request =
        new PlanRequest(
            asker,
            PlanKind.PROMISE,
            1,
            List.of(new PlanRequest.Wanted(0, hold.allocation().bytes())),
            (_, name) -> PlanHolds.of(pool, leases.take(1, lease, generations), generations, name),
            new PlanRequest.Answer() {
              @Override
              public void granted(Plan plan) {
                granted.add(plan);
              }

              @Override
              public void missed() {}

              @Override
              public void refused(TransportException why) {
                throw why;
              }
            });
    assertThat(asker.instance().ask(request)).isTrue();
    return granted.getFirst();
  }

  private static SharedMapping claims(Member member) {
    return PlanMemory.attachClaims(
        member.descriptors().get(1), PlanLayout.CLAIMS_VERSION, PlanLayout.CLAIM_BYTES);
  }

  // Guard: SessionWords.classify asking for copiesOnDevice. A host copy ends with its process; a
  // device's copy may go on.
  @Test
  void aDeviceThatMayStillCopyKeepsItsBlocksHeld() {
    for (boolean device : new boolean[] {false, true}) {
      Pool pool = new Pool(1 << 20);
      Catalog catalog = new Catalog(pool);
      LeaseTable leases = new LeaseTable(Long.MAX_VALUE);
      catalog.seal(NAME, catalog.reserve(4096, "test"));
      Instances instances = new Instances(Epoch.random(), 1 << 19);
      Member scheduler =
          instances.join("i", new Member.Traits(0, false, ClientOrdering.FENCES, false));
      Member worker =
          instances.join("i", new Member.Traits(1, true, ClientOrdering.FENCES, device));
      SharedMapping claims = claims(worker);
      Plan plan = ask(scheduler, pool, catalog, leases);
      new MappedWord(Objects.requireNonNull(claims.enter()), PlanLayout.claim(plan.record()))
          .store(EngineState.ACTIVE.word(plan.generation()));
      assertThat(scheduler.instance().cancel(plan.record(), plan.generation(), "test"))
          .isEqualTo(PlanCancel.LOST_TO_ACTIVE);
      assertThat(pool.usage().holds()).isEqualTo(1);

      worker.exited();
      worker.release();
      PlanState state = scheduler.instance().observe(plan.record(), plan.generation()).state();
      assertThat(state).isEqualTo(device ? PlanState.QUARANTINED : PlanState.ENDED_IN_PART);
      assertThat(pool.usage().quarantinedHolds()).isEqualTo(device ? 1 : 0);
      assertThat(pool.usage().holds()).isEqualTo(device ? 1 : 0);
      if (device) {
        assertThat(scheduler.instance().cancel(plan.record(), plan.generation(), "test"))
            .isEqualTo(PlanCancel.LOST_TO_ACTIVE);
        assertThat(ask(scheduler, pool, catalog, leases).record())
            .as("its record is never used again")
            .isNotEqualTo(plan.record());
      }
      assertThat(instances.open()).isEqualTo(device ? 2 : 0);
      scheduler.exited();
      scheduler.release();
      assertThat(instances.open()).as("what has ended, but for the quarantine").isZero();
      assertThat(pool.usage().quarantinedHolds()).isEqualTo(device ? 1 : 0);
      assertThat(pool.usage().holds()).isEqualTo(device ? 1 : 0);
      claims.leave();
      claims.close(() -> {});
      instances.close();
    }
  }
}
