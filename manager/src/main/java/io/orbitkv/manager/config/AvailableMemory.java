package io.orbitkv.manager.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * What a pool may take of this machine now: what the kernel has available, within the limits of the
 * cgroups (version 2) that this process is in.
 *
 * @param bytes that can be had; the largest number if the kernel does not say
 * @param holder who has them, for people
 */
record AvailableMemory(long bytes, String holder) {
  private static final long MOST_SLACK_BYTES = 256L << 20;

  static AvailableMemory now() {
    return now(Path.of("/"));
  }

  /** As seen in the proc and sys folders of that root. */
  static AvailableMemory now(Path root) {
    long machine =
        field(root.resolve("proc/meminfo"), "MemAvailable:").orElse(Long.MAX_VALUE >> 10) << 10;
    AvailableMemory least = new AvailableMemory(machine, "this machine");
    Path mount = root.resolve("sys/fs/cgroup");
    Path group = mount;
    for (String line : lines(root.resolve("proc/self/cgroup"))) {
      if (line.startsWith("0::/")) {
        group = mount.resolve(line.substring("0::/".length())).normalize();
      }
    }
    // Its own, and those around it: each has a limit.
    for (; group != null && group.startsWith(mount); group = group.getParent()) {
      long left = left(group);
      if (left < least.bytes()) {
        least = new AvailableMemory(left, "this cgroup");
      }
    }
    return least;
  }

  /** The largest pool: a little stays for the process itself and for others. */
  long forPool() {
    return bytes - Math.min(MOST_SLACK_BYTES, bytes / 20);
  }

  private static long left(Path group) {
    OptionalLong most = number(lines(group.resolve("memory.max")));
    OptionalLong used = number(lines(group.resolve("memory.current")));
    if (most.isEmpty() || used.isEmpty()) {
      return Long.MAX_VALUE;
    }
    // Cached pages of files are charged, and given up when memory is needed.
    long cached = field(group.resolve("memory.stat"), "inactive_file").orElse(0);
    return Math.max(0, most.getAsLong() - Math.max(0, used.getAsLong() - cached));
  }

  private static OptionalLong field(Path file, String name) {
    for (String line : lines(file)) {
      String[] words = line.split("\\s+", 3);
      if (words.length > 1 && words[0].equals(name)) {
        return number(List.of(words[1]));
      }
    }
    return OptionalLong.empty();
  }

  private static OptionalLong number(List<String> lines) {
    return lines.size() == 1 && lines.getFirst().matches("\\d{1,18}")
        ? OptionalLong.of(Long.parseLong(lines.getFirst()))
        : OptionalLong.empty();
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of(); // not this kernel, or not for this process: no limit is known then
    }
  }
}
