package io.orbitkv.cli;

import io.orbitkv.adapter.ChannelConfig;
import io.orbitkv.adapter.ManagerClient;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that says which Manager a command talks to. */
final class SocketOption {
  /** Environment variable with the socket's path. */
  private static final String VARIABLE = "ORBITKV_SOCKET";

  @Option(
      names = "--socket",
      paramLabel = "PATH",
      description =
          "Socket of the Manager. Default: ORBITKV_SOCKET, else that of the file that"
              + " ORBITKV_CHANNEL_CONFIG names, else the only running Manager of this user in"
              + " /tmp.")
  private @Nullable Path socket;

  /**
   * A session with that Manager; the caller closes it.
   *
   * @throws CommandException if it is not clear which one is meant
   * @throws io.orbitkv.api.TransportException if it can't be reached
   */
  ManagerClient connect() throws CommandException {
    return ManagerSession.open(path());
  }

  private Path path() throws CommandException {
    if (socket != null) {
      return socket;
    }
    String variable = System.getenv(VARIABLE);
    if (variable != null && !variable.isEmpty()) {
      return Path.of(variable);
    }
    Optional<ChannelConfig> domain = ChannelConfig.ofProcess();
    return domain.isPresent()
        ? domain.get().socket()
        : SocketDiscovery.only(SocketDiscovery.DIRECTORY);
  }
}
