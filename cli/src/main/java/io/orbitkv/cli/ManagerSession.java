package io.orbitkv.cli;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.TransportException;
import io.orbitkv.cli.output.Units;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Begins a session with a Manager, and says in words of the command line why there is none. */
final class ManagerSession {
  private static final int S_IFMT = 0xf000;
  private static final int S_IFSOCK = 0xc000;

  private ManagerSession() {}

  /**
   * Connects; the caller closes the client.
   *
   * @throws CommandException if this user may not, or if that is no socket
   * @throws TransportException whatever else the client found
   */
  static ManagerClient open(Path socket) throws CommandException {
    try {
      return ManagerClient.connect(socket, ClientOptions.DEFAULTS);
    } catch (TransportException e) {
      checkKind(socket, e);
      throw e;
    }
  }

  // Only after a failure: what was looked at before could have changed since.
  private static void checkKind(Path socket, TransportException cause) throws CommandException {
    try {
      if (Files.getAttribute(socket, "unix:mode") instanceof Integer mode
          && (mode & S_IFMT) != S_IFSOCK) {
        throw new CommandException(
            socket + ": is not a socket; give the one that 'orbitkv manager' printed", cause);
      }
      if (!Files.isWritable(socket)) {
        throw notAllowed(socket, cause);
      }
    } catch (AccessDeniedException e) {
      throw notAllowed(socket, cause);
    } catch (IOException e) {
      // It is gone, as the client says.
    }
  }

  private static CommandException notAllowed(Path socket, TransportException cause)
      throws CommandException {
    return new CommandException(
        socket
            + ": not allowed for uid "
            + ownUid()
            + "; see --socket-mode and --allowed-uids of the Manager, or run as its user",
        cause);
  }

  private static Object ownUid() {
    try {
      return Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    } catch (IOException e) {
      return "of this process";
    }
  }

  /**
   * Refuses what can never fit into the pool of a Manager.
   *
   * @param what begins the message
   * @throws CommandException if it is longer
   */
  static void checkFits(ManagerClient client, String what, long bytes) throws CommandException {
    if (JsonParser.parseString(client.status()) instanceof JsonObject status
        && status.get("pool") instanceof JsonObject pool
        && pool.get("capacity_bytes") instanceof JsonPrimitive capacity
        && bytes > capacity.getAsLong()) {
      throw new CommandException(
          "%s: has %s, more than the pool of %s of the Manager at %s; start it with a larger --pool-bytes"
              .formatted(
                  what, Units.bytes(bytes), Units.bytes(capacity.getAsLong()), client.socket()));
    }
  }
}
