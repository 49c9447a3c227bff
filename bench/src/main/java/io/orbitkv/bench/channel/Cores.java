package io.orbitkv.bench.channel;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The processors that processes are pinned to: the first that this process may use, and the next
 * one that is not the same core's other half, if there is one.
 *
 * @param first the number of a processor
 * @param second another one; the same if there is no other
 */
record Cores(int first, int second) {
  private static final String ALLOWED = "Cpus_allowed_list:";

  /** Of this machine. */
  static Cores find() {
    List<Integer> allowed =
        lines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith(ALLOWED))
            .flatMap(line -> numbers(line.substring(ALLOWED.length()).strip()).stream())
            .toList();
    if (allowed.isEmpty()) {
      throw new TransportException(
          FaultCode.UNSUPPORTED, "bench channel: /proc/self/status names no processors");
    }
    int first = allowed.getFirst();
    List<Integer> halves =
        lines(Path.of("/sys/devices/system/cpu/cpu" + first + "/topology/thread_siblings_list"))
            .stream()
            .flatMap(line -> numbers(line.strip()).stream())
            .toList();
    int second =
        allowed.stream()
            .filter(core -> !halves.contains(core))
            .filter(core -> core != first)
            .findFirst()
            .orElse(allowed.getLast());
    return new Cores(first, second);
  }

  /** Numbers and ranges, divided by commas. */
  static List<Integer> numbers(String list) {
    List<Integer> numbers = new ArrayList<>();
    for (String part : list.split(",", -1)) {
      String[] ends = part.split("-", 2);
      for (int i = Integer.parseInt(ends[0]); i <= Integer.parseInt(ends[ends.length - 1]); i++) {
        numbers.add(i);
      }
    }
    return numbers;
  }

  /** Whether both processes can have one each. */
  boolean allow(Placement placement) {
    return placement == Placement.ONE_CORE || first != second;
  }

  /** Where the server goes. */
  int server(Placement placement) {
    return placement == Placement.ONE_CORE ? first : second;
  }

  /**
   * Pins every thread of a process, and those it starts later.
   *
   * @throws TransportException UNSUPPORTED if it can not be
   */
  static void pin(long pid, int core) {
    List<String> command =
        List.of("taskset", "-a", "-c", "-p", Integer.toString(core), Long.toString(pid));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (process.waitFor() != 0) {
        throw new TransportException(
            FaultCode.UNSUPPORTED, "bench channel: " + said.lines().toList());
      }
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "bench channel: taskset: " + e.getMessage() + "; install util-linux",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TransportException(FaultCode.CANCELLED, "bench channel: interrupted", e);
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }
}
