package io.orbitkv.bench;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One process of the C baseline: compiled from the source in this jar, started, spoken to by lines.
 * Owned by who started it; its process ends with {@link #close}, and when this process ends.
 */
final class SocketLoop implements AutoCloseable {
  private static final String SOURCE = "socket_loop.c";
  private static final int END_SECONDS = 5;

  private final Process process;
  private final BufferedReader out;

  private SocketLoop(Process process) {
    this.process = process;
    out = process.inputReader();
  }

  /**
   * Compiles and starts it.
   *
   * @param arguments as the source says
   * @throws TransportException UNSUPPORTED without a compiler, or if it fails
   */
  static SocketLoop start(List<String> arguments) {
    Path compiler =
        CProgram.compiler()
            .orElseThrow(
                () ->
                    new TransportException(
                        FaultCode.UNSUPPORTED,
                        "baseline: there is no C compiler; install gcc, or give --baseline java"));
    try {
      return new SocketLoop(CProgram.start(compiler, SOURCE, arguments));
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "baseline: " + e.getMessage() + "; set TMPDIR to a folder that allows programs",
          e);
    }
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
}
