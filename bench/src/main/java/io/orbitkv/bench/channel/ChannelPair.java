package io.orbitkv.bench.channel;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.util.concurrent.TimeUnit;

/**
 * The two processes of one row: the client's, which is this object's, and the server's, which is
 * not. Used by one thread.
 */
final class ChannelPair implements AutoCloseable {
  private static final double SLICE_SECONDS = 0.5;
  private static final int STEADY_SLICES = 3;
  private static final double STEADY_SPREAD = 1.05;
  private static final long LONGEST_WARM_UP_NANOS = TimeUnit.SECONDS.toNanos(8);

  /** A side that sleeps runs other code, which is compiled once it has run some thousand times. */
  private static final int SLEEPING_PACE_MICROS = 100;

  private static final double SLEEPING_SECONDS = 2;

  private final ChannelClient kind;
  private final EndProcess client;
  private final long clientPid;
  private final long serverPid;

  /**
   * Waits until the client is ready.
   *
   * @param serverPid the server's process; 0 if the client says which
   */
  ChannelPair(ChannelClient kind, EndProcess client, long serverPid) {
    this.kind = kind;
    this.client = client;
    String[] said = client.awaitReady().split(" ", -1);
    clientPid = number(said, 0);
    this.serverPid = serverPid == 0 ? number(said, 1) : serverPid;
  }

  private long number(String[] said, int index) {
    try {
      return Long.parseLong(said[index]);
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      throw new TransportException(
          FaultCode.UNSUPPORTED, kind + ": it did not say which processes are its own", e);
    }
  }

  ChannelClient kind() {
    return kind;
  }

  long clientPid() {
    return clientPid;
  }

  long serverPid() {
    return serverPid;
  }

  /**
   * Pins both and does it unmeasured: one after the other until a median is like the two before it,
   * or for 8 s, then for 2 s so that both sleep in between.
   */
  void warmUp(Cores cores) {
    pin(cores, cores.allow(Placement.TWO_CORES) ? Placement.TWO_CORES : Placement.ONE_CORE);
    double[] last = new double[STEADY_SLICES];
    long start = System.nanoTime();
    boolean steady = false;
    for (int slice = 0; !steady && System.nanoTime() - start < LONGEST_WARM_UP_NANOS; slice++) {
      last[slice % STEADY_SLICES] = ask(0, SLICE_SECONDS).p50();
      steady = slice >= STEADY_SLICES && isSteady(last);
    }
    if (kind.allows(Placement.ONE_CORE)) {
      pin(cores, Placement.ONE_CORE);
    }
    var _ = ask(SLEEPING_PACE_MICROS, SLEEPING_SECONDS);
  }

  private static boolean isSteady(double[] medians) {
    double least = Double.MAX_VALUE;
    double most = 0;
    for (double median : medians) {
      least = Math.min(least, median);
      most = Math.max(most, median);
    }
    return most <= least * STEADY_SPREAD;
  }

  /**
   * Pins both and measures.
   *
   * @param paceMicros from one round trip's begin to the next one's; 0 one after the other
   * @param warmUpSeconds how long the same is done unmeasured before
   */
  RoundTrips measure(
      Cores cores, Placement placement, int paceMicros, double warmUpSeconds, double seconds) {
    pin(cores, placement);
    var _ = ask(paceMicros, warmUpSeconds);
    return ask(paceMicros, seconds);
  }

  private void pin(Cores cores, Placement placement) {
    Cores.pin(clientPid, cores.first());
    Cores.pin(serverPid, cores.server(placement));
  }

  private RoundTrips ask(int paceMicros, double seconds) {
    String line = client.ask(paceMicros + " " + seconds);
    try {
      return RoundTrips.parse(line);
    } catch (IllegalArgumentException e) {
      throw new TransportException(FaultCode.CORRUPT, kind + ": " + e.getMessage(), e);
    }
  }

  /** Nothing is asked of it from now on. */
  void idle() {
    var _ = client.ask("idle");
  }

  @Override
  public void close() {
    client.close();
  }
}
