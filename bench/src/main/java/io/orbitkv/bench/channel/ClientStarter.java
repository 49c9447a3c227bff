package io.orbitkv.bench.channel;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.bench.CProgram;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Starts clients, and the servers that they share, which end with it. Used by one thread; owned by
 * who made it.
 */
final class ClientStarter implements AutoCloseable {
  private static final String C_SOURCE = "channel_loop.c";
  private static final String PYTHON_SOURCE = "channel_end.py";
  private static final String UNIX_SOCKET = "unix-socket.sock";

  private record Server(EndProcess process, String address) {}

  private final ChannelSetUp setUp;
  private final Map<String, Server> servers = new HashMap<>();

  ClientStarter(ChannelSetUp setUp) {
    this.setUp = setUp;
  }

  /**
   * Starts one and waits until it is ready.
   *
   * @throws TransportException UNSUPPORTED or PEER_LOST if what it needs is not here
   */
  ChannelPair start(ChannelClient kind) {
    return switch (kind) {
      case JAVA -> pair(kind, end(kind, setUp.manager().toString()), setUp.managerPid());
      case PYTHON -> pair(kind, python(), setUp.managerPid());
      case C_EVENTFD -> pair(kind, inC(), 0);
      case GRPC_UNARY, GRPC_STREAM -> served(kind, ChannelEnd.GRPC_SERVER, "");
      case UNIX_SOCKET ->
          served(kind, ChannelEnd.UNIX_SERVER, setUp.directory().resolve(UNIX_SOCKET).toString());
      case ICEORYX2_EVENT -> pair(kind, iceoryx2(kind, "event"), 0);
      case ICEORYX2_SPIN -> pair(kind, iceoryx2(kind, "spin"), 0);
    };
  }

  private static ChannelPair pair(ChannelClient kind, EndProcess client, long serverPid) {
    try {
      return new ChannelPair(kind, client, serverPid);
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }

  private EndProcess end(ChannelClient kind, String address) {
    return EndProcess.start(
        kind.toString(), setUp.ends().apply(List.of(kind.toString(), address)), Map.of());
  }

  private ChannelPair served(ChannelClient kind, String server, String at) {
    Server serving = servers.get(server);
    if (serving == null) {
      serving = serve(server, at);
      servers.put(server, serving);
    }
    return pair(kind, end(kind, serving.address()), serving.process().pid());
  }

  private Server serve(String server, String at) {
    List<String> command = setUp.ends().apply(List.of(server, at));
    EndProcess process = EndProcess.start(server, command, Map.of());
    try {
      return new Server(process, process.awaitReady());
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }

  private EndProcess inC() {
    Path compiler =
        CProgram.compiler().orElseThrow(() -> unsupported("there is no C compiler; install gcc"));
    try {
      return new EndProcess(
          ChannelClient.C_EVENTFD.toString(), CProgram.start(compiler, C_SOURCE, List.of()));
    } catch (IOException e) {
      throw unsupported(e.getMessage() + "; set TMPDIR to a folder that allows programs", e);
    }
  }

  private EndProcess python() {
    Path source = setUp.directory().resolve(PYTHON_SOURCE);
    try (InputStream in = CProgram.class.getResourceAsStream(PYTHON_SOURCE)) {
      if (in == null) {
        throw unsupported(PYTHON_SOURCE + " is not in the jar");
      }
      Files.write(source, in.readAllBytes());
    } catch (IOException e) {
      throw unsupported(source + ": cannot be written: " + e.getMessage(), e);
    }
    if (!hasPackage()) {
      throw unsupported(
          "python3 with the package orbitkv is needed: put it in PATH, and pip install"
              + " adapter/python, or name that folder in PYTHONPATH");
    }
    return EndProcess.start(
        ChannelClient.PYTHON.toString(),
        List.of("python3", source.toString(), setUp.manager().toString()),
        pythonPath());
  }

  private boolean hasPackage() {
    ProcessBuilder check =
        new ProcessBuilder("python3", "-c", "import orbitkv; orbitkv.connect")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD);
    check.environment().putAll(pythonPath());
    try {
      return check.start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private Map<String, String> pythonPath() {
    String own = System.getenv().getOrDefault("PYTHONPATH", "");
    return Map.of(
        "PYTHONPATH",
        Stream.concat(Stream.of(own), setUp.python().stream().map(Path::toString))
            .filter(folder -> !folder.isEmpty())
            .collect(Collectors.joining(File.pathSeparator)));
  }

  private EndProcess iceoryx2(ChannelClient kind, String mode) {
    List<String> command = new ArrayList<>();
    command.add(Iceoryx2Program.built().toString());
    command.add(mode);
    return EndProcess.start(kind.toString(), command, Map.of());
  }

  private static TransportException unsupported(String why) {
    return new TransportException(FaultCode.UNSUPPORTED, why);
  }

  private static TransportException unsupported(String why, IOException cause) {
    return new TransportException(FaultCode.UNSUPPORTED, why, cause);
  }

  @Override
  public void close() {
    servers.values().forEach(server -> server.process().close());
  }
}
