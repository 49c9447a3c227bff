package io.orbitkv.bench;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * One process of the C baseline: compiled from the source in this jar, started, spoken to by lines.
 * Owned by who started it; its process ends with {@link #close}, and when this process ends.
 */
final class SocketLoop implements AutoCloseable {
  private static final String SOURCE = "socket_loop.c";
  private static final int COMPILE_SECONDS = 60;
  private static final int END_SECONDS = 5;

  private final Process process;
  private final BufferedReader out;

  private SocketLoop(Process process) {
    this.process = process;
    out = process.inputReader();
  }

  /** The C compiler of this machine: {@code cc}, else {@code gcc}; empty if there is none. */
  static Optional<Path> compiler() {
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
   * Compiles and starts it.
   *
   * @param arguments as the source says
   * @throws TransportException UNSUPPORTED without a compiler, or if it fails
   */
  static SocketLoop start(List<String> arguments) {
    Path compiler =
        compiler()
            .orElseThrow(
                () ->
                    new TransportException(
                        FaultCode.UNSUPPORTED,
                        "baseline: there is no C compiler; install gcc, or give --baseline java"));
    try {
      Path directory = Files.createTempDirectory("orbitkv-bench-");
      try {
        Path program = compile(compiler, directory);
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(arguments);
        Process process =
            new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        return new SocketLoop(process);
      } finally {
        // A program that runs needs its file no more, and so nothing can be left behind.
        remove(directory);
      }
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "baseline: " + e.getMessage() + "; set TMPDIR to a folder that allows programs",
          e);
    }
  }

  private static Path compile(Path compiler, Path directory) throws IOException {
    Path source = directory.resolve(SOURCE);
    Path program = directory.resolve("socket_loop");
    Path log = directory.resolve("compile.log");
    try (InputStream in = SocketLoop.class.getResourceAsStream(SOURCE)) {
      if (in == null) {
        throw new IOException(SOURCE + " is not in the jar");
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

  /**
   * Waits for a line.
   *
   * @throws TransportException PEER_LOST if the process has ended
   */
  String readLine() {
    try {
      String line = out.readLine();
      if (line != null) {
        return line;
      }
    } catch (IOException e) {
      // Told below.
    }
    throw new TransportException(
        FaultCode.PEER_LOST, "baseline: the C loop has ended; what it said is above");
  }

  /** Sends it a line. */
  void writeLine(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.PEER_LOST, "baseline: the C loop has ended; what it said is above", e);
    }
  }

  /** Its processor time, nanoseconds. */
  long cpuNanos() {
    return ProcessCpu.nanos(process.toHandle());
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
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
