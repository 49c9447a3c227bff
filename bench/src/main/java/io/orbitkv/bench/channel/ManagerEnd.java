package io.orbitkv.bench.channel;

import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import java.nio.file.Path;

/** A command of 64 bytes to a Manager, and its answer of 64. */
final class ManagerEnd implements Exchange {
  private final ManagerClient client;

  ManagerEnd(String socket) {
    client = ManagerClient.connect(Path.of(socket), ClientOptions.DEFAULTS);
  }

  @Override
  public void exchange() {
    client.ping();
  }

  @Override
  public void close() {
    client.close();
  }
}
