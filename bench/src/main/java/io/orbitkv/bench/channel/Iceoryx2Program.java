package io.orbitkv.bench.channel;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;

/**
 * The program that uses iceoryx2: built by cargo, which fetches the library, and kept in the user's
 * cache folder, since that takes a minute or two.
 */
final class Iceoryx2Program {
  private static final String MANIFEST = "Cargo.toml";
  private static final String SOURCE = "src/main.rs";
  private static final String PROGRAM = "target/release/channel-iceoryx2";
  private static final int BUILD_MINUTES = 10;

  private Iceoryx2Program() {}

  /**
   * The program; built unless it was before.
   *
   * @throws TransportException UNSUPPORTED if it can not be
   */
  static synchronized Path built() {
    try {
      byte[] manifest = resource(MANIFEST);
      byte[] source = resource(SOURCE);
      CRC32 version = new CRC32();
      version.update(manifest);
      version.update(source);
      Path project =
          cache().resolve("orbitkv").resolve("bench-iceoryx2-%08x".formatted(version.getValue()));
      Path program = project.resolve(PROGRAM);
      if (!Files.isExecutable(program)) {
        Files.createDirectories(project.resolve(SOURCE).getParent());
        Files.write(project.resolve(MANIFEST), manifest);
        Files.write(project.resolve(SOURCE), source);
        build(project);
      }
      return program;
    } catch (IOException e) {
      throw unsupported(e.getMessage() + "; is cargo (Rust) in PATH?");
    }
  }

  private static void build(Path project) throws IOException {
    System.err.println(
        "orbitkv: building the baseline iceoryx2 by cargo in "
            + project
            + ", once; it takes a"
            + " minute or two");
    Path log = project.resolve("build.log");
    Process cargo =
        new ProcessBuilder(List.of("cargo", "build", "--release", "--quiet"))
            .directory(project.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      if (cargo.waitFor(BUILD_MINUTES, TimeUnit.MINUTES) && cargo.exitValue() == 0) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    cargo.destroyForcibly();
    throw unsupported(
        "cargo could not build it: "
            + Files.readString(log, StandardCharsets.UTF_8).lines().findFirst().orElse("")
            + " (all of it: "
            + log
            + ")");
  }

  private static Path cache() {
    String configured = System.getenv().getOrDefault("XDG_CACHE_HOME", "");
    return configured.startsWith("/")
        ? Path.of(configured)
        : Path.of(System.getProperty("user.home"), ".cache");
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = Iceoryx2Program.class.getResourceAsStream("iceoryx2/" + name)) {
      if (in == null) {
        throw new IOException(name + " of iceoryx2's baseline is not in the jar");
      }
      return in.readAllBytes();
    }
  }

  private static TransportException unsupported(String why) {
    return new TransportException(FaultCode.UNSUPPORTED, why);
  }
}
