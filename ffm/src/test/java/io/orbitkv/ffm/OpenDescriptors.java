package io.orbitkv.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Fails a test that leaves a socket, memfd, eventfd or pidfd open, or a memfd mapped. */
final class OpenDescriptors implements BeforeEachCallback, AfterEachCallback {
  private Map<String, Integer> before = Map.of();

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    before = held();
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    // A call that close() ended may leave a moment after it.
    Eventually.until(
        () -> held().equals(before), () -> "descriptors " + held() + ", not " + before);
    assertThat(held()).isEqualTo(before);
  }

  private static Map<String, Integer> held() throws IOException {
    Map<String, Integer> kinds = new TreeMap<>();
    try (Stream<Path> numbers = Files.list(Path.of("/proc/self/fd"))) {
      for (Path number : numbers.toList()) {
        try {
          count(kinds, Files.readSymbolicLink(number).toString());
        } catch (NoSuchFileException e) {
          // The listing's own descriptor, which is closed by now.
        }
      }
    }
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      kinds.put("mapped", (int) maps.filter(line -> line.contains("/memfd:ffm-test")).count());
    }
    return kinds;
  }

  private static void count(Map<String, Integer> kinds, String target) {
    String kind = target.replaceAll("[\\[\\]0-9]", "");
    if (kind.startsWith("socket:")
        || kind.startsWith("/memfd:")
        || kind.startsWith("pidfd:")
        || kind.startsWith("anon_inode:")) {
      kinds.merge(kind, 1, Integer::sum);
    }
  }
}
