package io.orbitkv.manager.control;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** An owner in a process of its own, which can be killed. */
final class OwnerProcess implements AutoCloseable {
  private static final String STUCK = "stuck";

  private final Process process;
  private final int port;

  private OwnerProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts one.
   *
   * @param port where it listens, 0 for any
   * @param stuck whether it never answers an Authorize
   */
  static OwnerProcess start(int port, boolean stuck) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                OwnerProcess.class.getName(),
                Integer.toString(port),
                stuck ? STUCK : "")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
    String line = lines.readLine();
    if (line == null) {
      throw new IOException("the owner's process ended at its start");
    }
    return new OwnerProcess(process, Integer.parseInt(line));
  }

  public static void main(String[] args) throws IOException {
    ScriptedManager owner = new ScriptedManager("owner:" + ProcessHandle.current().pid());
    if (args[1].equals(STUCK)) {
      owner.gate = new CountDownLatch(1);
    }
    InetSocketAddress listen =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
    ControlServer server = ControlServer.start(listen, owner, ControlSecurity.plaintext());
    System.out.println(server.port());
    // Until its parent is gone.
    int end = System.in.read();
    System.exit(end < 0 ? 0 : 1);
  }

  int port() {
    return port;
  }

  void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
