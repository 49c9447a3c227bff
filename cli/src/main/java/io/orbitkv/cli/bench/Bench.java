package io.orbitkv.cli.bench;

import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.bench.Comparison;
import io.orbitkv.bench.Contender;
import io.orbitkv.bench.LoopShape;
import io.orbitkv.bench.Machine;
import io.orbitkv.bench.OwnerLink;
import io.orbitkv.bench.Requester;
import io.orbitkv.bench.SocketLoopClient;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * An owner, a requester and the baseline, ready to be measured. Used by one thread; owned by who
 * opened it.
 */
final class Bench implements AutoCloseable {
  private static final double WARM_UP_SECONDS = 1;
  private static final long SMALL_BYTES = 4 << 10;
  private static final int SCATTERED = 500;

  private final TransportProvider provider;
  private final Map<String, String> options;
  private final TransferPlan plan;
  private final Runnable step;
  private final OwnerLink owner;
  private final Requester requester;
  private final @Nullable SocketLoopClient loop;
  private final List<Contender> sleeping;
  private final Random random = new Random(1);

  private Bench(
      TransportProvider provider,
      Map<String, String> options,
      TransferPlan plan,
      Runnable step,
      OwnerLink owner,
      Requester requester,
      @Nullable SocketLoopClient loop,
      List<Contender> sleeping) {
    this.provider = provider;
    this.options = options;
    this.plan = plan;
    this.step = step;
    this.owner = owner;
    this.requester = requester;
    this.loop = loop;
    this.sleeping = sleeping;
  }

  /**
   * Opens both ends and starts the baseline.
   *
   * @param at where the owner listens
   * @param step runs after each measurement
   */
  static Bench open(
      TransportProvider provider,
      Map<String, String> options,
      InetSocketAddress at,
      TransferPlan plan,
      Runnable step) {
    OwnerLink owner = OwnerLink.connect(at, provider.name(), plan.poolBytes());
    try {
      Requester requester = Requester.open(provider, options, owner, plan.poolBytes());
      try {
        boolean inC =
            plan.baseline() == BaselineKind.C
                || (plan.baseline() == BaselineKind.AUTO && SocketLoopClient.possible());
        SocketLoopClient loop = inC ? SocketLoopClient.start(owner, plan.poolBytes()) : null;
        List<Contender> sleeping = List.of();
        if (loop != null) {
          sleeping = loop.sleepingWays();
        } else if (plan.baseline() != BaselineKind.NONE) {
          sleeping = List.of(requester.javaLoop());
        }
        return new Bench(provider, options, plan, step, owner, requester, loop, sleeping);
      } catch (RuntimeException e) {
        requester.close();
        throw e;
      }
    } catch (RuntimeException e) {
      owner.close();
      throw e;
    }
  }

  TransportProvider provider() {
    return provider;
  }

  Map<String, String> options() {
    return options;
  }

  TransferPlan plan() {
    return plan;
  }

  OwnerLink owner() {
    return owner;
  }

  Requester requester() {
    return requester;
  }

  /** The C baseline; null if there is none. */
  @Nullable SocketLoopClient loop() {
    return loop;
  }

  /** The ways of the baseline that sleep in the kernel. */
  List<Contender> sleepingWays() {
    return sleeping;
  }

  /** What the figures depend on, in one line. */
  String machine() {
    String mine = Machine.line(owner.localHost());
    String theirs = owner.machine();
    return mine.equals(theirs) ? mine : mine + "; owner: " + theirs;
  }

  /** How many measurements {@link #compare} makes of a shape in all rounds. */
  static long steps(LoopShape shape, int rounds, int ways) {
    return (long) rounds * (1 + ways + (ways > 0 && Shapes.isSmall(shape) ? 1 : 0));
  }

  /** Has the JVMs compile the paths of small and large operations. */
  void warmUp() throws InterruptedException {
    var _ = requester.measure(LoopShape.random(SMALL_BYTES, 1, 1), WARM_UP_SECONDS, 0);
    var _ = requester.measure(LoopShape.random(SMALL_BYTES, SCATTERED, 1), WARM_UP_SECONDS, 0);
  }

  /** Measures a shape. */
  Comparison compare(LoopShape shape) throws InterruptedException {
    return compare(shape, requester);
  }

  /** Measures a shape for the requester, or another one in its place. */
  Comparison compare(LoopShape shape, Contender own) throws InterruptedException {
    List<Contender> ways = new ArrayList<>(sleeping);
    if (loop != null && Shapes.isSmall(shape)) {
      ways.add(loop.pollingWay());
    }
    return Comparison.run(
        shape, own, ways, plan.rounds(), plan.warmUpSeconds(), plan.seconds(), random, step);
  }

  /** A measurement that a case made by itself is done. */
  void step() {
    step.run();
  }

  @Override
  public void close() {
    try (owner;
        requester) {
      if (loop != null) {
        loop.close();
      }
    }
  }
}
