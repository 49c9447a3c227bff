package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The memory of a JVM in another process, after a collection of its garbage.
 *
 * @param heapBytes what lives in its heap
 * @param nativeBytes what the JVM and its code have committed outside of the heap; not the pool
 * @param residentBytes its pages that are no file's, touched heap included; not the pool
 */
public record MemoryUse(long heapBytes, long nativeBytes, long residentBytes) {
  private static final Pattern HEAP_USED = Pattern.compile("(?:total|reserved).*? used (\\d+)K");
  private static final Pattern TOTAL = Pattern.compile("Total: .*committed=(\\d+)KB");
  private static final Pattern HEAP = Pattern.compile("Java Heap \\(.*committed=(\\d+)KB\\)");
  private static final Pattern ANONYMOUS = Pattern.compile("RssAnon:\\s+(\\d+) kB");

  /** Looks at a JVM that was started with native memory tracking and the serial collector. */
  static MemoryUse of(long pid, Path directory) {
    Jcmd jcmd = new Jcmd(pid, directory);
    String _ = jcmd.run("GC.run");
    String heap = jcmd.run("GC.heap_info");
    String memory = jcmd.run("VM.native_memory", "summary");
    String status;
    try {
      status = Files.readString(Path.of("/proc", Long.toString(pid), "status"));
    } catch (IOException e) {
      throw new UncheckedIOException("process " + pid, e);
    }
    return new MemoryUse(
        generations(heap), kib(TOTAL, memory) - kib(HEAP, memory), kib(ANONYMOUS, status));
  }

  /** The young generation and the old one; what follows is no heap. */
  private static long generations(String text) {
    Matcher used = HEAP_USED.matcher(text);
    long bytes = 0;
    for (int i = 0; i < 2; i++) {
      if (!used.find()) {
        throw new AssertionError("no two generations in: " + text);
      }
      bytes += Long.parseLong(used.group(1)) << 10;
    }
    return bytes;
  }

  private static long kib(Pattern pattern, String text) {
    Matcher found = pattern.matcher(text);
    if (!found.find()) {
      throw new AssertionError("no " + pattern + " in: " + text);
    }
    return Long.parseLong(found.group(1)) << 10;
  }
}
