package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a process has of the kernel and of native memory now.
 *
 * @param descriptors open files, by what they are
 * @param threads names of its threads, cut by the kernel after 15 bytes
 * @param offHeapBytes what the JVM says of memory that was allocated off heap by its code: direct
 *     buffers and arenas
 */
public record ProcessUse(List<String> descriptors, List<String> threads, long offHeapBytes) {
  private static final Pattern OTHER =
      Pattern.compile("Other \\(reserved=\\d+KB, committed=(\\d+)KB\\)");

  /** Looks at a JVM that was started with native memory tracking. */
  static ProcessUse of(long pid, Path directory) {
    Path self = Path.of("/proc", Long.toString(pid));
    try {
      // First, since it makes the JVM open a socket of its own.
      long offHeapBytes = offHeap(pid, directory);
      return new ProcessUse(
          entries(self.resolve("fd"), ProcessUse::target),
          entries(self.resolve("task"), task -> Files.readString(task.resolve("comm")).strip()),
          offHeapBytes);
    } catch (IOException e) {
      throw new UncheckedIOException("process " + pid, e);
    }
  }

  /** How many processes a process watches by their pidfd. */
  static long watched(long pid) {
    try {
      return entries(Path.of("/proc", Long.toString(pid), "fd"), ProcessUse::target).stream()
          .filter(descriptor -> descriptor.contains("pidfd"))
          .count();
    } catch (IOException e) {
      throw new UncheckedIOException("process " + pid, e);
    }
  }

  /**
   * What there is now and was not before: files by what they are, threads by name. Without threads
   * that the JVM starts when it likes, those of the pool that keeps them a minute, and the one that
   * is made when it has its first work.
   */
  public List<String> beyond(ProcessUse before) {
    List<String> more = new ArrayList<>(descriptors);
    before.descriptors.forEach(more::remove);
    List<String> moreThreads = new ArrayList<>(threads);
    before.threads.forEach(moreThreads::remove);
    moreThreads.removeIf(
        name ->
            name.matches(
                "orbitkv-fetch-.*|orbitkv-drain|C1 Compiler.*|Attach Listener|Training replay"));
    more.addAll(moreThreads);
    return more;
  }

  private interface Look {
    String at(Path path) throws IOException;
  }

  private static List<String> entries(Path folder, Look look) throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path entry : entries.toList()) {
        try {
          found.add(look.at(entry));
        } catch (NoSuchFileException e) {
          // Ended between the two looks.
        }
      }
    }
    return found;
  }

  private static String target(Path descriptor) throws IOException {
    return Files.readSymbolicLink(descriptor).toString().replaceAll("\\[\\d+]", "");
  }

  private static long offHeap(long pid, Path directory) {
    String text = new Jcmd(pid, directory).run("VM.native_memory", "summary");
    Matcher other = OTHER.matcher(text);
    if (!other.find()) {
      throw new AssertionError("jcmd shows no native memory: " + text);
    }
    return Long.parseLong(other.group(1)) << 10;
  }
}
