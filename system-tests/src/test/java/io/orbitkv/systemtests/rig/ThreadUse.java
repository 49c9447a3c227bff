package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What the threads of the channel in a process have done so far.
 *
 * @param switches how often each gave its processor up by itself, by number and name
 * @param ticks processor time of the whole process, hundredths of a second
 */
public record ThreadUse(Map<String, Long> switches, long ticks) {
  private static final String SWITCHES = "voluntary_ctxt_switches:";
  private static final String CHANNEL =
      "orbitkv-(ring|sess|answ|proc|acce|copy|clie).*"; // cut by the kernel after 15 bytes
  private static final double TICKS_OF_A_SECOND = 100;
  private static final int USER_TICKS = 11; // of /proc/PID/stat, behind the name
  private static final int SYSTEM_TICKS = 12;

  /** Looks at a process. */
  public static ThreadUse of(long pid) {
    Path self = Path.of("/proc", Long.toString(pid));
    Map<String, Long> switches = new TreeMap<>();
    try (Stream<Path> tasks = Files.list(self.resolve("task"))) {
      for (Path task : tasks.toList()) {
        try {
          String name = Files.readString(task.resolve("comm")).strip();
          if (name.matches(CHANNEL)) {
            switches.put(task.getFileName() + " " + name, switches(task));
          }
        } catch (NoSuchFileException _) {
          // that thread has just ended
        }
      }
      String stat = Files.readString(self.resolve("stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return new ThreadUse(
          switches, Long.parseLong(fields[USER_TICKS]) + Long.parseLong(fields[SYSTEM_TICKS]));
    } catch (IOException e) {
      throw new UncheckedIOException("process " + pid, e);
    }
  }

  private static long switches(Path task) throws IOException {
    for (String line : Files.readAllLines(task.resolve("status"))) {
      if (line.startsWith(SWITCHES)) {
        return Long.parseLong(line.substring(SWITCHES.length()).strip());
      }
    }
    throw new AssertionError(task + " tells no " + SWITCHES);
  }

  /** The threads that have woken since, and how often; new ones too. */
  public Map<String, Long> since(ThreadUse before) {
    Map<String, Long> woken = new TreeMap<>();
    switches.forEach(
        (name, count) -> {
          long more = count - before.switches.getOrDefault(name, 0L);
          if (more > 0) {
            woken.put(name, more);
          }
        });
    return woken;
  }

  /** How much of a core the process used since, which was so long ago. */
  public double coresSince(ThreadUse before, Duration time) {
    return (ticks - before.ticks) / TICKS_OF_A_SECOND / (time.toMillis() / 1e3);
  }
}
