package io.orbitkv.bench.channel;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * One of the two processes that are measured. A client first prints {@code ready CLIENT SERVER},
 * the ids of the processes, 0 if it does not know one; then it takes these lines:
 *
 * <ul>
 *   <li>{@code PACE_US SECONDS}: does a round trip every so many microseconds (0: one after the
 *       other) for so long, and prints {@link RoundTrips} as a JSON object
 *   <li>{@code idle}: prints {@code idle}; nothing is asked of it for a while
 * </ul>
 *
 * <p>A server prints {@code ready ADDRESS}. Both end with their standard input.
 */
public final class ChannelEnd {
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int DIGITS = 3;

  private final Exchange exchange;
  private final Histogram found = new Histogram(LONGEST_NANOS, DIGITS);

  private ChannelEnd(Exchange exchange) {
    this.exchange = exchange;
  }

  /** The two servers that are written in Java. */
  static final String GRPC_SERVER = "grpc-server";

  static final String UNIX_SERVER = "unix-socket-server";

  /**
   * Is one, until the input ends.
   *
   * @param kind the name of a {@link ChannelClient} written in Java, or of a server
   * @param address of the server; where a server of a Unix socket listens
   */
  public static void run(String kind, String address, InputStream in, PrintStream out)
      throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    switch (kind) {
      case GRPC_SERVER -> {
        try (GrpcServerEnd server = GrpcServerEnd.start()) {
          awaitEnd(server.address(), lines, out);
        }
      }
      case UNIX_SERVER -> {
        try (UnixSocketServerEnd _ = UnixSocketServerEnd.start(address)) {
          awaitEnd(address, lines, out);
        }
      }
      default -> {
        try (Exchange exchange = open(kind, address)) {
          exchange.exchange();
          out.println("ready " + ProcessHandle.current().pid() + " 0");
          new ChannelEnd(exchange).answer(lines, out);
        }
      }
    }
  }

  private static Exchange open(String kind, String address) throws IOException {
    return switch (kind) {
      case "java" -> new ManagerEnd(address);
      case "grpc-unary" -> new GrpcUnaryEnd(address);
      case "grpc-stream" -> new GrpcStreamEnd(address);
      case "unix-socket" -> UnixSocketEnd.connect(address);
      default -> throw new IllegalArgumentException(kind + ": there is no such end of a channel");
    };
  }

  private static void awaitEnd(String address, BufferedReader lines, PrintStream out)
      throws IOException {
    out.println("ready " + address);
    while (lines.readLine() != null) {
      // Nothing is asked of a server here.
    }
  }

  private void answer(BufferedReader lines, PrintStream out) throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ", -1);
      if (words.length == 2) {
        out.println(measure(Long.parseLong(words[0]), Double.parseDouble(words[1])).line());
      } else {
        out.println("idle");
      }
    }
  }

  private RoundTrips measure(long paceMicros, double seconds) throws IOException {
    found.reset();
    long pace = TimeUnit.MICROSECONDS.toNanos(paceMicros);
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    long next = start;
    long ended;
    do {
      if (pace > 0) {
        sleepUntil(next);
        next += pace;
      }
      ended = once();
      if (next - ended < 0) {
        next = ended;
      }
    } while (ended - end < 0);
    return new RoundTrips(found.getTotalCount(), micros(50), micros(99), micros(99.9));
  }

  private long once() throws IOException {
    long begun = System.nanoTime();
    exchange.exchange();
    long ended = System.nanoTime();
    found.recordValue(Math.min(ended - begun, LONGEST_NANOS));
    return ended;
  }

  private static void sleepUntil(long nanos) {
    for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private double micros(double percentile) {
    return found.getValueAtPercentile(percentile) / 1e3;
  }
}
