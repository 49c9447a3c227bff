package io.orbitkv.manager.local;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.adapter.Role;
import io.orbitkv.adapter.plan.PlanLayout;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Hello;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.Epoch;
import io.orbitkv.manager.plan.Site;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Processes of their own, to be killed: {@code engine SOCKET}, {@code busy SOCKET}, {@code
 * scribbler SOCKET} or {@code manager SOCKET}.
 */
final class EngineMain {
  static final BlockName NAME =
      BlockName.of("model", "of the engine".getBytes(StandardCharsets.UTF_8));
  static final byte CONTENT = 42;
  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

  private EngineMain() {}

  public static void main(String[] arguments) throws IOException {
    Path socket = Path.of(arguments[1]);
    if (arguments[0].equals("manager")) {
      var _ =
          LocalServer.start(
              socket, LocalOptions.DEFAULTS, Epoch.random(), new ReferenceBlocks(1 << 20));
      System.out.println("ready");
    } else if (arguments[0].equals("socketless")) {
      keepALeaseOnly(socket);
    } else if (arguments[0].equals("busy")) {
      useForEver(socket);
    } else if (arguments[0].equals("scribbler")) {
      scribble(socket);
    } else {
      ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
      RegisteredMemory memory = client.allocate(8_192);
      var _ = memory.segment().fill(CONTENT);
      var _ = client.publish(List.of(Piece.of(NAME, memory)), Duration.ofSeconds(20));
      BlockLease lease = client.queryAndWait(List.of(NAME), QueryOptions.LOCAL);
      System.out.println("ready " + client.session() + " " + lease.blocks().size());
    }
    // Lives until it is killed, or its parent is gone.
    int read;
    do {
      read = System.in.read();
    } while (read >= 0);
  }

  /** Has a lease and no connection: the Manager has heard of its end, and answered. */
  private static void keepALeaseOnly(Path socket) {
    try (Channel channel = Channel.open(socket)) {
      byte[] names = Names.encode(List.of(BlockName.of("m", new byte[] {1})));
      var _ = channel.command(Opcode.QUERY, 1, names, 1_000_000_000L, 0);
      var _ = channel.call(FrameKind.CLOSE, 2, Channel.EMPTY);
      System.out.println(channel.welcome().session());
    }
  }

  /** Is told words of its claims as lines of "record word", stores them and has them looked at. */
  private static void scribble(Path socket) throws IOException {
    Channel channel = new Channel(socket);
    channel.welcomed(new Hello(Site.INSTANCE, Role.WORKER.wire()));
    System.out.println("ready");
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int request = 0;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] told = line.split(" ", -1);
      long at = PlanLayout.claim(Integer.parseInt(told[0]));
      WORD.setRelease(channel.claims(), at, Long.parseLong(told[1]));
      var _ = channel.command(Opcode.PING, ++request, new byte[0], 0, 0);
      System.out.println("stored");
    }
  }

  /**
   * Has something of everything under way at any moment, until it is killed, and says a line at
   * each step, so that whoever kills it can choose one whatever the load of the host.
   */
  private static void useForEver(Path socket) {
    System.out.println("ready");
    ManagerClient client = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
    System.out.println("connected");
    for (int i = 0; ; i++) {
      RegisteredMemory memory = client.allocate(8_192);
      System.out.println("allocated");
      BlockName name = BlockName.of("busy", new byte[] {(byte) i});
      var published = client.publish(List.of(Piece.of(name, memory)));
      System.out.println("publishing");
      for (int ping = 0; ping < 20; ping++) {
        client.ping();
      }
      System.out.println("pinged");
      BlockLease lease = client.queryAndWait(List.of(NAME, name), QueryOptions.LOCAL);
      System.out.println("leased");
      published.future().join();
      System.out.println("published");
      memory.close();
      System.out.println("withdrawn");
      lease.close();
      System.out.println("released");
    }
  }

  /** The first line that a process prints. */
  static String firstLine(Process process) throws IOException {
    String line = process.inputReader(StandardCharsets.UTF_8).readLine();
    return line == null ? "(ended)" : line;
  }

  /** Waits for that line, the first. */
  static void awaitLine(Process process, String expected) throws IOException {
    String line = firstLine(process);
    if (!line.equals(expected)) {
      throw new AssertionError("the process said '" + line + "' instead of " + expected);
    }
  }

  /** Sends a signal, such as {@code -STOP}. */
  static void signal(Process process, String signal) throws IOException, InterruptedException {
    int code = new ProcessBuilder("kill", signal, String.valueOf(process.pid())).start().waitFor();
    if (code != 0) {
      throw new AssertionError("kill " + signal + " ended with " + code);
    }
  }

  static Process start(String role, Path socket) throws IOException {
    return start(role, socket, "-XX:TieredStopAtLevel=1");
  }

  static Process start(String role, Path socket, String option) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            option,
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            EngineMain.class.getName(),
            role,
            socket.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }
}
