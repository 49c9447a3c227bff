package io.orbitkv.bench.channel;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The clients of a plan that can be had on this machine, measured in turn. Used by one thread;
 * owned by who opened it.
 */
public final class ChannelBench implements AutoCloseable {
  private static final double WARM_UP_SECONDS = 0.2;

  /** What is measured in one go. */
  private record Shape(ChannelPair pair, Placement placement, int paceMicros) {}

  private final ChannelPlan plan;
  private final Runnable step;
  private final ClientStarter starter;
  private final Cores cores = Cores.find();
  private final List<ChannelPair> pairs = new ArrayList<>();
  private final Map<String, String> leftOut = new LinkedHashMap<>();

  private ChannelBench(ChannelPlan plan, ChannelSetUp setUp, Runnable step) {
    this.plan = plan;
    this.step = step;
    starter = new ClientStarter(setUp);
  }

  /**
   * Starts what can be started; the rest is left out.
   *
   * @param step runs after each step
   */
  public static ChannelBench open(ChannelPlan plan, ChannelSetUp setUp, Runnable step) {
    ChannelBench bench = new ChannelBench(plan, setUp, step);
    try {
      plan.clients().forEach(bench::start);
      return bench;
    } catch (RuntimeException e) {
      bench.close();
      throw e;
    }
  }

  private void start(ChannelClient client) {
    try {
      pairs.add(starter.start(client));
    } catch (TransportException e) {
      if (e.code() != FaultCode.UNSUPPORTED && e.code() != FaultCode.PEER_LOST) {
        throw e;
      }
      leftOut.put(client.toString(), String.valueOf(e.getMessage()));
    }
    step.run();
  }

  /**
   * Warms all up, measures them in rounds, in another order each time, and leaves them alone for a
   * while; to be called once.
   *
   * @throws TransportException PEER_LOST if a process ends meanwhile
   */
  public ChannelFindings measure() throws InterruptedException {
    Map<Shape, List<RoundTrips>> found = new LinkedHashMap<>();
    shapes().forEach(shape -> found.put(shape, new ArrayList<>()));
    for (ChannelPair pair : pairs) {
      pair.warmUp(cores);
      step.run();
    }
    Random random = new Random(1);
    List<Shape> order = new ArrayList<>(found.keySet());
    for (int round = 0; round < plan.rounds(); round++) {
      Collections.shuffle(order, random);
      for (Shape shape : order) {
        found.getOrDefault(shape, new ArrayList<>()).add(measure(shape));
        step.run();
      }
    }
    IdleWindow idle = IdleWindow.look(pairs, plan.idleSeconds());
    List<ChannelRow> rows = new ArrayList<>();
    found.forEach((shape, rounds) -> rows.add(row(shape, rounds, idle)));
    return new ChannelFindings(rows, idle.wakes(), leftOut);
  }

  private List<Shape> shapes() {
    List<Shape> shapes = new ArrayList<>();
    for (ChannelPair pair : pairs) {
      for (Placement placement : plan.placements()) {
        if (!cores.allow(placement)) {
          leftOut.put(pair.kind() + " " + placement, "this process may use one processor only");
        } else if (!pair.kind().allows(placement)) {
          leftOut.put(
              pair.kind() + " " + placement, "two that only poll get on by preemption alone there");
        } else {
          ChannelPlan.PACES_MICROS.forEach(pace -> shapes.add(new Shape(pair, placement, pace)));
        }
      }
    }
    return shapes;
  }

  private RoundTrips measure(Shape shape) {
    return shape
        .pair()
        .measure(cores, shape.placement(), shape.paceMicros(), WARM_UP_SECONDS, plan.seconds());
  }

  private static ChannelRow row(Shape shape, List<RoundTrips> rounds, IdleWindow idle) {
    ChannelClient client = shape.pair().kind();
    return new ChannelRow(
        client,
        shape.placement(),
        shape.paceMicros(),
        rounds,
        idle.percent().getOrDefault(client, 0.0));
  }

  @Override
  public void close() {
    pairs.forEach(ChannelPair::close);
    starter.close();
  }
}
