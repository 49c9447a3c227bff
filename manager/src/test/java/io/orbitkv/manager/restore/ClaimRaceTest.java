package io.orbitkv.manager.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.HostBarriers;
import io.orbitkv.adapter.restore.ManagerState;
import io.orbitkv.adapter.restore.MappedWord;
import io.orbitkv.adapter.restore.RestoreClaim;
import io.orbitkv.adapter.restore.RestoreWord;
import io.orbitkv.adapter.restore.SessionClaims;
import io.orbitkv.ffm.Cpu;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Membarrier;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.PidFd;
import io.orbitkv.ffm.Protection;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Claim against revocation over real shared memory. The source is refilled the moment the record
 * says that it is released, so a claimed copy that sees anything but its own plan's bytes was not
 * waited for. Guards: the fences of both sides, the second read, the wait for ACTIVE.
 */
@Tag("slow")
@Timeout(120)
class ClaimRaceTest {
  private static final long PAGE = 4096;
  private static final long HALF = 8192;
  private static final long END = 12288;
  private static final long OVER = 64;
  private static final long LEAST_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(40);

  private final Fd managerFile = Memfd.create("restore-race", END);
  private final Fd sessionFile = Memfd.create("restore-race-session", PAGE);
  private final Mapping arena = Mapping.map(managerFile, 0, END, Protection.READ_WRITE, true);
  private final Mapping own = Mapping.map(sessionFile, 0, PAGE, Protection.READ_WRITE, true);
  private final MemorySegment source = arena.segment();
  private final RestoreRecord record =
      new RestoreRecord(new MappedWord(source, 0), new HostBarriers());
  private final Random random;

  private final AtomicLong copies = new AtomicLong();
  private final AtomicLong backedOff = new AtomicLong();
  private final AtomicLong torn = new AtomicLong();
  private long plans;
  private long revoked;
  private long waits;

  ClaimRaceTest() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    random = new Random(seed);
    Memfd.addSeals(managerFile, Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_FUTURE_WRITE);
  }

  @AfterEach
  void close() {
    arena.close();
    own.close();
    managerFile.close();
    sessionFile.close();
  }

  @Test
  void aCopyOfAThreadNeverSeesTheNextFill() throws Exception {
    Mapping readOnly = Mapping.map(managerFile, 0, END, Protection.READ, true);
    SessionClaims claims =
        new SessionClaims(
            1,
            _ -> new MappedWord(own.segment(), 0),
            _ -> new MappedWord(readOnly.segment(), 0),
            new HostBarriers());
    Thread engine = Thread.ofPlatform().start(() -> claimAll(readOnly.segment(), claims));
    // Both sides must have won: a revocation over a claim, and a claim over a revocation.
    hammer(ClientOrdering.FENCES, () -> copies.get() >= 1_000 && backedOff.get() >= 10);
    engine.join();
    readOnly.close();
    report("thread");
    assertThat(torn).hasValue(0);
    assertThat(copies.get()).isPositive();
  }

  @Test
  void aCopyOfAProcessThatCanNotFenceNeverSeesTheNextFill() throws Exception {
    Assumptions.assumeTrue(Membarrier.supported(), "this kernel has no global expedited barrier");
    Process engine =
        new ProcessBuilder(
                "python3",
                Path.of(Objects.requireNonNull(getClass().getResource("claim_engine.py")).toURI())
                    .toString(),
                path(managerFile),
                path(sessionFile),
                "register")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (PidFd exit = PidFd.open(engine.pid());
        BufferedReader said =
            new BufferedReader(
                new InputStreamReader(engine.getInputStream(), StandardCharsets.UTF_8))) {
      assertThat(said.readLine()).isEqualTo("ready");
      hammer(ClientOrdering.here(false), () -> false);
      long[] counts =
          Arrays.stream(said.readLine().split(" ")).mapToLong(Long::parseLong).toArray();
      copies.set(counts[0]);
      backedOff.set(counts[1]);
      torn.set(counts[2]);
      report("Python process");
      assertThat(torn).hasValue(0);
      assertThat(copies.get()).isPositive();
      assertThat(exit.awaitExit(TimeUnit.SECONDS.toNanos(20))).isTrue();
      assertThat(engine.waitFor()).isZero();
    } finally {
      engine.destroyForcibly();
    }
  }

  private void report(String engine) {
    System.out.printf(
        "%s: %d plans, %d revoked, %d copied, %d backed off, %d waited for, %d refilled too early%n",
        engine, plans, revoked, copies.get(), backedOff.get(), waits, torn.get());
  }

  private interface Enough {
    boolean holds();
  }

  /** Grants and revokes until the time is up, or, if that is later, until there is enough. */
  private void hammer(ClientOrdering ordering, Enough enough) {
    MappedWord word = new MappedWord(own.segment(), 0);
    List<RestoringSession> sessions = List.of(new RestoringSession(word, ordering, false));
    long start = System.nanoTime();
    long passed = 0;
    while (passed < LEAST_NANOS || (!enough.holds() && passed < MOST_NANOS)) {
      plans++;
      fill(plans);
      record.grant(plans, sessions);
      assertThat(record.poll()).isNotEqualTo(RecordPhase.EMPTY);
      letTheEngineIn(word);
      revoked += record.revoke() ? 1 : 0;
      RecordPhase phase = record.poll();
      waits += phase == RecordPhase.RELEASED ? 0 : 1;
      while (phase != RecordPhase.RELEASED) {
        Cpu.yieldNow();
        phase = record.poll();
      }
      fill(-plans);
      record.reap();
      passed = System.nanoTime() - start;
    }
    new MappedWord(source, OVER).store(1);
  }

  /** Revokes at any distance from the grant, and often from the engine's first word. */
  private void letTheEngineIn(MappedWord word) {
    long end = System.nanoTime() + (random.nextInt(4) == 0 ? TimeUnit.MILLISECONDS.toNanos(1) : 0);
    while (RestoreWord.generation(word.load()) != plans && System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
    for (int spins = random.nextInt(1 << random.nextInt(14)); spins > 0; spins--) {
      Thread.onSpinWait();
    }
  }

  private void fill(long value) {
    for (long at = PAGE; at < END; at += Long.BYTES) {
      source.set(ValueLayout.JAVA_LONG, at, value);
    }
  }

  private void claimAll(MemorySegment arena, SessionClaims claims) {
    MappedWord manager = new MappedWord(arena, 0);
    MappedWord over = new MappedWord(arena, OVER);
    long last = 0;
    while (over.load() == 0) {
      long word = manager.load();
      long generation = RestoreWord.generation(word);
      if (generation == last || ManagerState.read(word, generation) != ManagerState.GRANTED) {
        Thread.onSpinWait();
        continue;
      }
      last = generation;
      RestoreClaim claim = claims.hold(0, generation);
      if (!claim.claim(2)) {
        backedOff.incrementAndGet();
        continue;
      }
      boolean first = holds(arena, PAGE, HALF, generation);
      boolean _ = claim.endPart(true);
      boolean second = holds(arena, HALF, END, generation);
      boolean _ = claim.endPart(true);
      copies.incrementAndGet();
      torn.addAndGet(first && second ? 0 : 1);
    }
  }

  private static boolean holds(MemorySegment arena, long from, long to, long expected) {
    boolean holds = true;
    for (long at = from; at < to; at += Long.BYTES) {
      holds &= arena.get(ValueLayout.JAVA_LONG, at) == expected;
    }
    return holds;
  }

  private static String path(Fd fd) {
    return "/proc/" + ProcessHandle.current().pid() + "/fd/" + fd.number();
  }
}
