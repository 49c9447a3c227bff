package io.orbitkv.manager.local;

import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Round trips of the channel between two processes: {@code ROUNDS [PAUSE_US]}. Where both run is
 * what taskset says of this one.
 */
final class ChannelPing {
  private static final int WARM_UP = 30_000;

  private ChannelPing() {}

  public static void main(String[] arguments) throws IOException {
    int rounds = Integer.parseInt(arguments[0]);
    long pauseNanos =
        arguments.length > 1 ? TimeUnit.MICROSECONDS.toNanos(Long.parseLong(arguments[1])) : 0;
    Path directory = Files.createTempDirectory("orbitkv-ping");
    Process manager =
        EngineMain.start("manager", directory.resolve("m.sock"), "-XX:+TieredCompilation");
    try (BufferedReader out =
            new BufferedReader(
                new InputStreamReader(manager.getInputStream(), StandardCharsets.UTF_8));
        ManagerClient client = connect(out, directory.resolve("m.sock"))) {
      measure(client, WARM_UP, 0);
      report(measure(client, rounds, pauseNanos), pauseNanos);
    } finally {
      manager.destroyForcibly();
    }
  }

  private static ManagerClient connect(BufferedReader out, Path socket) throws IOException {
    if (!"ready".equals(out.readLine())) {
      throw new IOException("the Manager did not start");
    }
    return ManagerClient.connect(socket, ClientOptions.DEFAULTS);
  }

  private static long[] measure(ManagerClient client, int rounds, long pauseNanos) {
    long[] nanos = new long[rounds];
    for (int i = 0; i < rounds; i++) {
      if (pauseNanos > 0) {
        LockSupport.parkNanos(pauseNanos);
      }
      long began = System.nanoTime();
      client.ping();
      nanos[i] = System.nanoTime() - began;
    }
    return nanos;
  }

  private static void report(long[] nanos, long pauseNanos) {
    Arrays.sort(nanos);
    System.out.printf(
        Locale.ROOT,
        "ring ping, %d round trips, pause %d us: p50 %.2f us, p99 %.2f us, max %.0f us%n",
        nanos.length,
        pauseNanos / 1_000,
        nanos[nanos.length / 2] / 1e3,
        nanos[nanos.length * 99 / 100] / 1e3,
        nanos[nanos.length - 1] / 1e3);
  }
}
