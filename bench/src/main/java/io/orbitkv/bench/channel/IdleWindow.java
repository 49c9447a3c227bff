package io.orbitkv.bench.channel;

import io.orbitkv.bench.ProcessCpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What processes do while nothing is asked of any of them.
 *
 * @param percent what the two of each client use of one core
 * @param wakes how often a thread of the channel was woken, by its name and process; only those
 *     that were
 */
public record IdleWindow(Map<ChannelClient, Double> percent, Map<String, Long> wakes) {
  /** What the threads that serve or use the channel are called; the kernel keeps 15 letters. */
  private static final List<String> CHANNEL_THREADS =
      List.of(
          "orbitkv-ring",
          "orbitkv-answers",
          "orbitkv-session",
          "orbitkv-accept",
          "orbitkv-process",
          "orbitkv-client");

  private static final String SWITCHES = "voluntary_ctxt_switches:";

  /** The compilers and collectors of a JVM have some work left when the load ends. */
  private static final long SETTLE_MILLIS = 2_000;

  /** Copies the maps. */
  public IdleWindow {
    percent = Map.copyOf(percent);
    wakes = Map.copyOf(wakes);
  }

  /** Looks at all of them for a while. */
  static IdleWindow look(List<ChannelPair> pairs, double seconds) throws InterruptedException {
    pairs.forEach(ChannelPair::idle);
    TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
    Map<ChannelClient, Double> percent = new EnumMap<>(ChannelClient.class);
    Map<String, Long> wakes = new TreeMap<>();
    Map<ChannelPair, Long> cpu = new HashMap<>();
    pairs.forEach(pair -> cpu.put(pair, cpuNanos(pair)));
    Map<String, Long> before = switches(pairs);
    long start = System.nanoTime();
    TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
    double elapsed = System.nanoTime() - start;
    switches(pairs)
        .forEach(
            (thread, count) -> {
              long more = count - before.getOrDefault(thread, count);
              if (more > 0) {
                wakes.put(thread, more);
              }
            });
    cpu.forEach(
        (pair, nanos) -> percent.put(pair.kind(), (cpuNanos(pair) - nanos) * 100 / elapsed));
    return new IdleWindow(percent, wakes);
  }

  private static long cpuNanos(ChannelPair pair) {
    return Stream.of(pair.clientPid(), pair.serverPid())
        .mapToLong(pid -> ProcessHandle.of(pid).map(ProcessCpu::nanos).orElse(0L))
        .sum();
  }

  /** How often each thread of a Manager or of a client of one has gone to sleep so far. */
  private static Map<String, Long> switches(List<ChannelPair> pairs) {
    Map<String, Long> switches = new TreeMap<>();
    for (ChannelPair pair : pairs) {
      if (pair.kind().usesManager()) {
        add(switches, "Manager", pair.serverPid());
        add(switches, pair.kind() + " client", pair.clientPid());
      }
    }
    return switches;
  }

  private static void add(Map<String, Long> switches, String process, long pid) {
    try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path task : tasks.toList()) {
        String name = Files.readString(task.resolve("comm")).strip();
        if (CHANNEL_THREADS.stream().anyMatch(name::startsWith)) {
          String key = process + "'s " + name + " (" + task.getFileName() + ")";
          Files.readAllLines(task.resolve("status")).stream()
              .filter(line -> line.startsWith(SWITCHES))
              .mapToLong(line -> Long.parseLong(line.substring(SWITCHES.length()).strip()))
              .forEach(count -> switches.put(key, count));
        }
      }
    } catch (IOException e) {
      // A thread that has ended meanwhile does not wake.
    }
  }
}
