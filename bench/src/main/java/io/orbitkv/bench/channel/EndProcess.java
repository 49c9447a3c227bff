package io.orbitkv.bench.channel;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A process of one end, spoken to by lines as {@link ChannelEnd} says. Used by one thread; owned by
 * who started it; ends with {@link #close}.
 */
final class EndProcess implements AutoCloseable {
  private static final String READY = "ready ";
  private static final int END_SECONDS = 5;

  private final String name;
  private final Process process;
  private final BufferedReader out;

  /** Takes a process over. */
  EndProcess(String name, Process process) {
    this.name = name;
    this.process = process;
    out = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * Starts one; its standard error is this process's.
   *
   * @throws TransportException UNSUPPORTED if there is no such program
   */
  static EndProcess start(String name, List<String> command, Map<String, String> environment) {
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putAll(environment);
    try {
      return new EndProcess(name, builder.start());
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.UNSUPPORTED, name + ": cannot be started: " + e.getMessage(), e);
    }
  }

  /**
   * Waits until it is ready.
   *
   * @return what it said about itself
   * @throws TransportException UNSUPPORTED if it ends instead
   */
  String awaitReady() {
    String line = readLine();
    if (!line.startsWith(READY)) {
      throw new TransportException(FaultCode.UNSUPPORTED, name + ": it said: " + line);
    }
    return line.substring(READY.length());
  }

  /** Its id. */
  long pid() {
    return process.pid();
  }

  /**
   * Sends it a line and waits for one.
   *
   * @throws TransportException PEER_LOST if it has ended
   */
  String ask(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new TransportException(FaultCode.PEER_LOST, ended(), e);
    }
    return readLine();
  }

  private String readLine() {
    try {
      String line = out.readLine();
      if (line != null) {
        return line;
      }
    } catch (IOException e) {
      throw new TransportException(FaultCode.PEER_LOST, ended(), e);
    }
    throw new TransportException(FaultCode.PEER_LOST, ended());
  }

  private String ended() {
    return name + ": its process has ended; what it said is above";
  }

  @Override
  public void close() {
    try {
      // The end of its input is what tells it.
      process.getOutputStream().close();
      if (process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        return;
      }
    } catch (IOException e) {
      // It has ended, or will be made to.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }
}
