package io.orbitkv.cli;

import io.orbitkv.manager.config.HostPort;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An {@code orbitkv bench transfer --listen} that this process started and will end. Used by one
 * thread.
 */
final class OwnerProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final String READY = "listening ";

  private final Process process;
  private final InetSocketAddress address;

  private OwnerProcess(Process process, InetSocketAddress address) {
    this.process = process;
    this.address = address;
  }

  /**
   * Starts one on loopback and waits until it listens.
   *
   * @param arguments the provider, as this process was given it
   * @throws CommandException if it ends before it listens
   */
  static OwnerProcess start(List<String> arguments) throws CommandException {
    List<String> command = new ArrayList<>(ManagerProcess.launcher());
    command.addAll(List.of("bench", "transfer", "--listen", "127.0.0.1:0"));
    command.addAll(arguments);
    try {
      Process process =
          new ProcessBuilder(ManagerProcess.endingWithThis(command))
              .redirectInput(new File("/dev/null"))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      return new OwnerProcess(process, awaitAddress(process));
    } catch (IOException e) {
      throw new CommandException(
          "bench owner: cannot be started (" + e.getMessage() + "); check " + command, e);
    }
  }

  private static InetSocketAddress awaitAddress(Process process)
      throws IOException, CommandException {
    BufferedReader out = process.inputReader();
    String line = out.readLine();
    if (line == null || !line.startsWith(READY)) {
      process.destroyForcibly();
      throw new CommandException("bench owner: it ended before it listened; see above");
    }
    HostPort bound = HostPort.parse(line.substring(READY.length()));
    return new InetSocketAddress(InetAddress.getByName(bound.host()), bound.port());
  }

  InetSocketAddress address() {
    return address;
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
