package io.orbitkv.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Programs in C whose source is in this jar: compiled where they run. */
public final class CProgram {
  private static final int COMPILE_SECONDS = 60;

  private CProgram() {}

  /** The C compiler of this machine: {@code cc}, else {@code gcc}; empty if there is none. */
  public static Optional<Path> compiler() {
    for (String name : List.of("cc", "gcc")) {
      for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
        Path path = Path.of(folder, name);
        if (!folder.isEmpty() && Files.isExecutable(path)) {
          return Optional.of(path);
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Compiles and starts one; its standard error is this process's.
   *
   * @param compiler what {@link #compiler()} found
   * @param source name of the source, which ends in {@code .c}
   * @throws IOException if it can not be compiled or started
   */
  public static Process start(Path compiler, String source, List<String> arguments)
      throws IOException {
    Path directory = Files.createTempDirectory("orbitkv-bench-");
    try {
      List<String> command = new ArrayList<>();
      command.add(compile(compiler, source, directory).toString());
      command.addAll(arguments);
      return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    } finally {
      // A program that runs needs its file no more, and so nothing can be left behind.
      remove(directory);
    }
  }

  private static Path compile(Path compiler, String name, Path directory) throws IOException {
    Path source = directory.resolve(name);
    Path program = directory.resolve(name.substring(0, name.length() - ".c".length()));
    Path log = directory.resolve("compile.log");
    try (InputStream in = CProgram.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IOException(name + " is not in the jar");
      }
      Files.copy(in, source);
    }
    Process process =
        new ProcessBuilder(
                compiler.toString(), "-O2", "-pthread", "-o", program.toString(), source.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      if (process.waitFor(COMPILE_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0) {
        return program;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
    throw new IOException(
        compiler + " can not compile it: " + Files.readString(log).lines().findFirst().orElse(""));
  }

  private static void remove(Path directory) {
    try (var files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.deleteIfExists(file);
      }
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      System.err.println("orbitkv: " + directory + ": cannot be removed (" + e + "); remove it");
    }
  }
}
