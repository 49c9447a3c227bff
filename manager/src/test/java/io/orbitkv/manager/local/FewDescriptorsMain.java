package io.orbitkv.manager.local;

import io.orbitkv.api.Epoch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A server in a process of its own whose descriptors run out: {@code SOCKET}. Takes numbers of
 * descriptors that may still be opened, and says {@code limited}; {@code free} lifts the limit, and
 * tells what is open, but for what it fills gaps with; ends with its input.
 */
final class FewDescriptorsMain {
  private FewDescriptorsMain() {}

  static Process start(Path socket) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            FewDescriptorsMain.class.getName(),
            socket.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  public static void main(String[] arguments) throws Throwable {
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer _ =
            LocalServer.start(
                Path.of(arguments[0]), LocalOptions.DEFAULTS, Epoch.random(), blocks)) {
      long unlimited = TestCalls.limitDescriptors(1 << 10);
      loadClasses();
      System.out.println("ready");
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        long _ = TestCalls.limitDescriptors(unlimited);
        if (line.equals("free")) {
          System.out.println(open());
        } else {
          long _ = TestCalls.limitDescriptors(withoutGaps() + Long.parseLong(line));
          System.out.println("limited");
        }
      }
    }
  }

  private static String open() throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      for (Path each : open.toList()) {
        try {
          found.add(Files.readSymbolicLink(each).toString());
        } catch (NoSuchFileException _) {
          // The one that lists the folder, or one that was closed meanwhile.
        }
      }
    }
    found.removeIf("/dev/null"::equals);
    return String.join(" ", found);
  }

  /** The limit counts numbers, so the free ones below the highest are taken first. */
  private static long withoutGaps() throws Throwable {
    long highest = 0;
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      highest =
          open.mapToLong(each -> Long.parseLong(each.getFileName().toString())).max().orElse(0);
    }
    long taken;
    do {
      taken = TestCalls.open("/dev/null", TestCalls.O_RDWR);
    } while (taken >= 0 && taken < highest);
    return taken + 1;
  }

  /** A class that can not be read for want of a descriptor is missing for ever. */
  private static void loadClasses() throws IOException, ClassNotFoundException {
    for (String entry : System.getProperty("java.class.path").split(":", -1)) {
      Path folder = Path.of(entry);
      if (Files.isDirectory(folder)) {
        try (Stream<Path> files = Files.walk(folder)) {
          for (Path file : files.toList()) {
            String name = folder.relativize(file).toString().replace('/', '.');
            if (name.startsWith("io.orbitkv.")
                && name.endsWith(".class")
                && !name.endsWith("-info.class")
                && !folder.endsWith("test-classes")) {
              Class<?> _ = Class.forName(name.substring(0, name.length() - ".class".length()));
            }
          }
        }
      }
    }
  }
}
