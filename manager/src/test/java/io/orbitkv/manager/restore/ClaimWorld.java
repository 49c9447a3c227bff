package io.orbitkv.manager.restore;

import io.orbitkv.adapter.restore.Barriers;
import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.EngineState;
import io.orbitkv.adapter.restore.ManagerState;
import io.orbitkv.adapter.restore.RestoreClaim;
import io.orbitkv.adapter.restore.RestoreClaim.Phase;
import io.orbitkv.adapter.restore.RestoreWord;
import io.orbitkv.adapter.restore.SessionClaims;
import io.orbitkv.adapter.restore.SharedWord;
import io.orbitkv.tck.explore.Steps;
import io.orbitkv.tck.explore.World;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A real claim and a real record over two simulated words with store buffers, for two plans one
 * after the other, of two parts each. A rule that is off is broken here: by memory that lies, by
 * barriers that do nothing, or by a driver that does not keep to the steps.
 */
final class ClaimWorld implements World {
  enum Client {
    NATIVE(ClientOrdering.FENCES, false),
    NATIVE_WITH_DEVICE(ClientOrdering.FENCES, true),
    PYTHON(ClientOrdering.STORES_LATE, false),
    PYTHON_UNORDERED(ClientOrdering.UNORDERED, false);

    final ClientOrdering ordering;
    final boolean device;

    Client(ClientOrdering ordering, boolean device) {
      this.ordering = ordering;
      this.device = device;
    }
  }

  private static final int GENERATIONS = 2;
  private static final int NONE_EARLY = -1;

  private final Client client;
  private final @Nullable ClaimRule off;

  private final StoreBuffer.Cell engineCell = new StoreBuffer.Cell();
  private final StoreBuffer.Cell managerCell = new StoreBuffer.Cell();
  private final StoreBuffer engineStores = new StoreBuffer();
  private final StoreBuffer managerStores = new StoreBuffer();

  private final RestoreRecord record =
      new RestoreRecord(managerStores.view(managerCell), new ManagerBarriers());
  private SessionClaims claims = newClaims();
  private @Nullable RestoreClaim claim;

  private long generation; // of the record
  private long claimed; // last generation that the engine claimed
  private long reading; // generation whose bytes the engine or its device may still read
  private long released; // last generation whose source was released
  private long content; // generation whose bytes are in the source
  private long early = NONE_EARLY; // content that a load saw before it should
  private boolean firstPartEnded;
  private boolean stale;
  private boolean exited;
  private boolean exitTold;

  ClaimWorld(Client client, @Nullable ClaimRule off) {
    this.client = client;
    this.off = off;
  }

  private boolean on(ClaimRule rule) {
    return rule != off;
  }

  @Override
  public void offer(Steps steps) {
    if (!engineStores.isEmpty()) {
      String what = EngineState.read(engineStores.first(), generationOf(engineStores)).toString();
      steps.step("(engine: " + what + " is visible)", engineStores::showFirst);
    }
    if (!managerStores.isEmpty()) {
      String what =
          ManagerState.read(managerStores.first(), generationOf(managerStores)).toString();
      steps.step("(Manager: " + what + " is visible)", managerStores::showFirst);
    }
    if (!exited) {
      steps.fault("the engine process exits", this::exit);
      offerEngine(steps);
    }
    offerManager(steps);
  }

  private void offerEngine(Steps steps) {
    boolean copying = claim != null && claim.phase() == Phase.COPYING;
    if (client.ordering == ClientOrdering.UNORDERED && early == NONE_EARLY && !copying) {
      steps.step("a load of the next copy is performed early", () -> early = content);
    }
    if (claim == null || claim.phase() == Phase.ENDED) {
      offerIdle(steps);
      return;
    }
    RestoreClaim now = claim;
    switch (now.phase()) {
      case HELD ->
          steps.step(
              "the engine writes ACTIVE",
              () -> {
                now.begin(on(ClaimRule.LAST_PART_FIRST) ? 2 : 1);
                now.step();
                claimed = now.generation();
                firstPartEnded = false;
              });
      case CLAIMED -> steps.step("the engine fences", now::step);
      case FENCED ->
          steps.step(
              "the engine reads " + managerState(now.generation()) + " again",
              () -> {
                now.step();
                if (now.phase() == Phase.COPYING) {
                  reading = now.generation();
                  stale = early != NONE_EARLY && early != reading;
                }
                early = NONE_EARLY;
              });
      case COPYING -> {
        if (firstPartEnded) {
          for (boolean whole : new boolean[] {true, false}) {
            steps.step(
                "the last part ended, the engine writes " + (whole ? "DRAINED" : "FAILED"),
                () -> {
                  now.partEnded(whole);
                  now.step();
                  reading = client.ordering == ClientOrdering.UNORDERED ? reading : 0;
                });
          }
        } else {
          steps.step(
              "part 1 ended, the engine says so",
              () -> {
                now.partEnded(true);
                now.step();
                firstPartEnded = true;
              });
        }
      }
      case BACKING_OFF -> {
        if (on(ClaimRule.FAILED_ON_BACK_OFF)) {
          steps.step("the engine writes FAILED", now::step);
        } else {
          steps.step(
              "the engine leaves in silence",
              () -> {
                claim = null;
                claims = newClaims();
              });
        }
      }
      case CLAIMING, PART_ENDED, ENDED -> throw new AssertionError(now);
    }
  }

  private void offerIdle(Steps steps) {
    if (reading != 0) {
      steps.step("the engine's last load is performed", () -> reading = 0);
      return;
    }
    long granted = RestoreWord.generation(managerCell.visible);
    boolean again = on(ClaimRule.CLAIMED_ONCE) && granted <= claimed;
    if (!again && ManagerState.read(managerCell.visible, granted) == ManagerState.GRANTED) {
      steps.step(
          "the engine reads plan " + granted,
          () -> {
            claims = on(ClaimRule.CLAIMED_ONCE) ? claims : newClaims();
            claim = claims.hold(0, granted);
          });
    }
  }

  private void offerManager(Steps steps) {
    if (exited && !exitTold && record.phase() != RecordPhase.EMPTY) {
      steps.step(
          "the Manager has OWNER_EXITED",
          () -> {
            exitTold = true;
            record.exited(0);
          });
    }
    if (record.phase() == RecordPhase.EMPTY && generation < GENERATIONS) {
      steps.step("the Manager fills the source of plan " + (generation + 1), this::grant);
    }
    long written = managerStores.view(managerCell).load();
    if (record.isBetweenScans() && written == ManagerState.GRANTED.word(generation)) {
      steps.step(
          "the Manager writes REVOKED",
          () -> {
            boolean begun = record.revoke();
            if (!begun) {
              throw new AssertionError(record);
            }
            managerStep();
          });
    }
    if (record.canStep()) {
      steps.step("the Manager " + nextStep(), this::managerStep);
    }
    if (record.phase() == RecordPhase.RELEASED) {
      steps.step("the Manager writes REAPED", record::reap);
    }
  }

  private String nextStep() {
    return switch (record.phase()) {
      case FILLED -> "issues membarrier before GRANTED";
      case GRANTING -> "writes GRANTED";
      case SCANNING -> "reads " + engineState();
      case PROVING -> "issues membarrier before it trusts the end";
      case REVOKED -> "fences";
      case FENCED -> "issues membarrier";
      default -> throw new AssertionError(record);
    };
  }

  private void grant() {
    generation++;
    content = generation;
    boolean declared = client.device && on(ClaimRule.DEVICE_QUARANTINE);
    SharedWord word = lying(managerStores.view(engineCell), this::asTheManagerReads);
    RestoringSession session = new RestoringSession(word, client.ordering, declared);
    record.grant(generation, exitTold ? List.of() : List.of(session));
  }

  private void managerStep() {
    record.step();
    if (record.phase() == RecordPhase.RELEASED) {
      released = generation;
    }
  }

  private void exit() {
    exited = true;
    engineStores.drain();
    if (!client.device) {
      reading = 0;
    }
  }

  private SessionClaims newClaims() {
    return new SessionClaims(
        1,
        _ -> engineStores.view(engineCell),
        _ -> lying(engineStores.view(managerCell), this::asTheEngineReads),
        new Barriers() {
          @Override
          public void fence() {
            if (client.ordering == ClientOrdering.FENCES && on(ClaimRule.ENGINE_FENCE)) {
              engineStores.drain();
            }
          }

          @Override
          public void membarrier() {
            throw new AssertionError("an engine issues none");
          }
        });
  }

  private final class ManagerBarriers implements Barriers {
    @Override
    public void fence() {
      if (on(ClaimRule.MANAGER_FENCE)) {
        managerStores.drain();
      }
    }

    @Override
    public void membarrier() {
      ClaimRule rule =
          switch (record.phase()) {
            case FILLED -> ClaimRule.MEMBARRIER_BEFORE_GRANT;
            case PROVING -> ClaimRule.MEMBARRIER_ON_DRAINED;
            default -> ClaimRule.MEMBARRIER;
          };
      if (on(rule)) {
        managerStores.drain();
        engineStores.drain();
        early = NONE_EARLY;
        boolean idle = claim == null || claim.phase() == Phase.ENDED;
        reading = idle && !exited ? 0 : reading;
      }
    }
  }

  private interface Lie {
    long about(long word);
  }

  private static SharedWord lying(SharedWord word, Lie lie) {
    return new SharedWord() {
      @Override
      public long load() {
        return lie.about(word.load());
      }

      @Override
      public void store(long value) {
        word.store(value);
      }
    };
  }

  private long asTheManagerReads(long word) {
    if (!on(ClaimRule.TAGGED_WORDS)) {
      return retagged(word, generation);
    }
    boolean partDrained = word == EngineState.PART_DRAINED.word(generation);
    return partDrained && !on(ClaimRule.WINS_ONLY_OVER_ENDED) ? 0 : word;
  }

  private long asTheEngineReads(long word) {
    if (claim != null && !on(ClaimRule.TAGGED_WORDS)) {
      return retagged(word, claim.generation());
    }
    boolean second = claim != null && claim.phase() == Phase.FENCED;
    return second && !on(ClaimRule.SECOND_READ)
        ? ManagerState.GRANTED.word(Objects.requireNonNull(claim).generation())
        : word;
  }

  private static long retagged(long word, long generation) {
    return (word & 0xff) | (generation << 8);
  }

  private static long generationOf(StoreBuffer stores) {
    return RestoreWord.generation(stores.first());
  }

  private EngineState engineState() {
    return EngineState.read(engineCell.visible, generation);
  }

  private ManagerState managerState(long expected) {
    return ManagerState.read(managerCell.visible, expected);
  }

  @Override
  public Object fingerprint() {
    return List.of(
        List.of(client, engineCell.visible, managerCell.visible),
        List.of(engineStores.values(), managerStores.values()),
        String.valueOf(claim),
        record.toString(),
        List.of(generation, claimed, reading, released, content, early),
        List.of(firstPartEnded, stale, exited, exitTold));
  }

  @Override
  public @Nullable String broken() {
    if (reading != 0 && reading <= released) {
      return "UNSAFE: the source of plan " + reading + " was released and may still be read";
    }
    if (stale) {
      return "WRONG: plan " + reading + " copied what was there before the source was filled";
    }
    // Without a rule the record may notice; what is searched for is what that does not prevent.
    return off == null && record.violation() != null ? "WRONG: " + record.violation() : null;
  }

  @Override
  public boolean ended() {
    return switch (record.phase()) {
      case RELEASED, QUARANTINED -> true;
      case EMPTY -> generation > 0;
      default -> false;
    };
  }
}
