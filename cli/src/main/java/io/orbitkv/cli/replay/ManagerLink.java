package io.orbitkv.cli.replay;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.TransportException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The way to one Manager of a replay: connects, and connects again when it was lost and something
 * answers on its socket. Remembers what each incarnation had counted when it was first met.
 * Thread-safe; owned by the replay, ends by {@link #close}.
 */
final class ManagerLink implements AutoCloseable {
  private final Path socket;
  private @Nullable ManagerClient client;
  private @Nullable Epoch epoch;
  private ManagerCounters before = ManagerCounters.NONE;
  private final Set<String> peers = new HashSet<>();
  private boolean replaced;

  ManagerLink(Path socket) {
    this.socket = socket;
  }

  /**
   * A client whose connection stood a moment ago.
   *
   * @throws TransportException if the Manager can't be reached
   */
  synchronized ManagerClient client() {
    if (client != null && client.connected()) {
      return client;
    }
    disconnect();
    ManagerClient connected = ManagerClient.connect(socket, ClientOptions.DEFAULTS);
    try {
      if (!connected.managerEpoch().equals(epoch)) {
        replaced = epoch != null;
        // Another incarnation began to count at zero, and all of it is this replay's time.
        String status = connected.status();
        peers.addAll(peersIn(status));
        before = replaced ? ManagerCounters.NONE : ManagerCounters.ofStatus(status);
        epoch = connected.managerEpoch();
      }
    } catch (RuntimeException e) {
      connected.close();
      throw e;
    }
    client = connected;
    return connected;
  }

  /** Whether this Manager is there and always was the same incarnation. */
  synchronized boolean steady() {
    return !replaced && client != null && client.connected();
  }

  /**
   * What the Manager counted since it was first met.
   *
   * @throws TransportException if it can't be reached
   */
  synchronized ManagerCounters counted() {
    String status = client().status();
    peers.addAll(peersIn(status));
    return ManagerCounters.ofStatus(status).since(before);
  }

  /** The identity of the incarnation that was met last, empty if none was. */
  synchronized String epoch() {
    return epoch == null ? "" : epoch.toString();
  }

  /** The identities of all other Managers that this one knew whenever it was asked. */
  synchronized Set<String> peers() {
    return Set.copyOf(peers);
  }

  static Set<String> peersIn(String status) {
    Set<String> epochs = new HashSet<>();
    if (JsonParser.parseString(status) instanceof JsonObject json
        && json.get("peers") instanceof JsonArray peers) {
      for (JsonElement peer : peers) {
        if (peer instanceof JsonObject object
            && object.get("manager_epoch") instanceof JsonPrimitive epoch) {
          epochs.add(epoch.getAsString());
        }
      }
    }
    return epochs;
  }

  @Override
  public synchronized void close() {
    disconnect();
  }

  private void disconnect() {
    if (client != null) {
      client.close();
      client = null;
    }
  }
}
