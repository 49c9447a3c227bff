package io.orbitkv.bench;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * The C baseline: a raw socket loop at both ends, without grants, tickets and receipts. Used by one
 * thread; owned by who started it.
 */
public final class SocketLoopClient implements AutoCloseable {
  private static final String CUBIC = "cubic";

  private final SocketLoop loop;
  private final InetAddress host;
  private final int port;
  private final LongSupplier servingCpu;
  private final Closing serving;

  /** How the serving end ends, if it is this object's to end. */
  private interface Closing {
    void close();
  }

  private SocketLoopClient(
      SocketLoop loop, InetAddress host, int port, LongSupplier servingCpu, Closing serving) {
    this.loop = loop;
    this.host = host;
    this.port = port;
    this.servingCpu = servingCpu;
    this.serving = serving;
  }

  /** Whether there is a compiler here. */
  public static boolean possible() {
    return CProgram.compiler().isPresent();
  }

  /**
   * Compiles and starts both ends, the serving one at the owner.
   *
   * @param poolBytes of each end
   */
  public static SocketLoopClient start(OwnerLink owner, long poolBytes) {
    int port = owner.startSocketLoop(poolBytes);
    InetAddress host = owner.address().getAddress();
    return new SocketLoopClient(
        connect(host, port, poolBytes), host, port, owner::socketLoopCpuNanos, () -> {});
  }

  /** As {@link #start}, both ends on this host. */
  public static SocketLoopClient startHere(long poolBytes) {
    InetAddress host = InetAddress.getLoopbackAddress();
    SocketLoopServer server = SocketLoopServer.start(host, poolBytes);
    try {
      return new SocketLoopClient(
          connect(host, server.port(), poolBytes),
          host,
          server.port(),
          server::cpuNanos,
          server::close);
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** A further requester of the same serving end, with a pool of its own. */
  public SocketLoopClient another(long poolBytes) {
    return new SocketLoopClient(connect(host, port, poolBytes), host, port, servingCpu, () -> {});
  }

  private static SocketLoop connect(InetAddress host, int port, long poolBytes) {
    SocketLoop loop =
        SocketLoop.start(
            List.of(
                "client", host.getHostAddress(), Integer.toString(port), Long.toString(poolBytes)));
    var _ = loop.readLine();
    return loop;
  }

  /**
   * The ways that sleep in the kernel until bytes come: with the system's congestion control, and
   * with cubic where that is another one and allowed here.
   */
  public List<Contender> sleepingWays() {
    List<Contender> ways = new ArrayList<>(List.of(way(false, "")));
    loop.writeLine("allows " + CUBIC);
    if (loop.readLine().equals("yes") && !Machine.congestion().equals(CUBIC)) {
      ways.add(way(false, CUBIC));
    }
    return ways;
  }

  /** The way that polls its sockets at both ends; for single small blocks. */
  public Contender pollingWay() {
    return way(true, "");
  }

  private Contender way(boolean polls, String congestion) {
    String name =
        "C"
            + (polls ? " polling" : "")
            + (congestion.isEmpty() ? " " + Machine.congestion() : " " + congestion);
    return new Contender() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public Sample measure(LoopShape shape, double warmUpSeconds, double seconds) {
        return run(name, shape, warmUpSeconds, seconds, polls, congestion);
      }
    };
  }

  private Sample run(
      String name,
      LoopShape shape,
      double warmUpSeconds,
      double seconds,
      boolean polls,
      String congestion) {
    loop.writeLine(
        String.format(
            Locale.ROOT,
            "%d %d %d %d %.3f %.3f %s %s",
            shape.blockBytes(),
            shape.batch(),
            shape.strideBytes(),
            shape.threads(),
            warmUpSeconds,
            seconds,
            polls ? "poll" : "block",
            congestion.isEmpty() ? "-" : congestion));
    var _ = loop.readLine();
    long ownerCpu = servingCpu.getAsLong();
    JsonObject found = JsonParser.parseString(loop.readLine()).getAsJsonObject();
    ownerCpu = servingCpu.getAsLong() - ownerCpu;
    double cpu = number(found, "cpu_nanos") + ownerCpu;
    List<Double> threads = new ArrayList<>();
    for (JsonElement thread : found.getAsJsonArray("thread_gbps")) {
      threads.add(thread.getAsDouble());
    }
    Sample.Times whole =
        new Sample.Times(
            number(found, "mean_us"),
            number(found, "p50_us"),
            number(found, "p99_us"),
            number(found, "p999_us"));
    return new Sample(
        name,
        (int) number(found, "batch"),
        number(found, "gbps"),
        whole,
        Sample.Times.NONE,
        Sample.Times.NONE,
        whole,
        Sample.Times.NONE,
        cpu / number(found, "bytes"),
        ownerCpu / cpu,
        (long) number(found, "operations"),
        (long) number(found, "errors"),
        "",
        threads,
        found.get("congestion").getAsString());
  }

  private static double number(JsonObject found, String name) {
    return found.get(name).getAsDouble();
  }

  @Override
  public void close() {
    loop.close();
    serving.close();
  }
}
