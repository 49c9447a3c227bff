package io.orbitkv.cli.replay;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.Publication;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.util.ArrayList;
import java.util.List;

/**
 * Registered memory out of which blocks are published to one client. Used by one thread. Once a
 * publish did not end by its deadline the Manager may still read: the memory is then never written
 * again ({@link #usable} is false), and a new one is to be made.
 */
final class Staging implements AutoCloseable {
  private static final long TARGET_BYTES = 64L << 20;

  private final ManagerClient client;
  private final RegisteredMemory memory;
  private final ReplayOptions options;
  private boolean usable = true;

  /** Registers memory with the Manager behind a client. */
  Staging(ManagerClient client, ReplayOptions options) {
    this.client = client;
    this.options = options;
    this.memory = client.allocate(capacity(options) * options.blockBytes());
  }

  /** How many blocks fit. */
  static int capacity(ReplayOptions options) {
    return Math.clamp(TARGET_BYTES / options.blockBytes(), 1, 4096);
  }

  boolean usable(ManagerClient now) {
    return usable && client == now;
  }

  /** Fills the memory with the blocks' bytes. */
  void fill(List<BlockName> names) {
    for (int i = 0; i < names.size(); i++) {
      BlockPattern.of(options.seed(), names.get(i))
          .fill(memory.segment().asSlice(i * options.blockBytes(), options.blockBytes()));
    }
  }

  /**
   * Publishes what {@link #fill} wrote and waits until all of it is sealed or refused.
   *
   * @throws TransportException DEADLINE, or what the client says
   */
  List<PublishResult> publish(List<BlockName> names) throws InterruptedException {
    List<Piece> pieces = new ArrayList<>(names.size());
    for (int i = 0; i < names.size(); i++) {
      pieces.add(new Piece(names.get(i), memory, i * options.blockBytes(), options.blockBytes()));
    }
    Publication publication = client.publish(pieces);
    try {
      return publication
          .await(options.deadline())
          .orElseThrow(
              () ->
                  new TransportException(
                      FaultCode.DEADLINE,
                      "publish to "
                          + client.socket()
                          + ": no answer in "
                          + options.deadline().toMillis()
                          + " ms; raise --deadline"));
    } catch (TransportException e) {
      if (Thread.interrupted()) {
        throw new InterruptedException(e.getMessage());
      }
      throw e;
    } finally {
      usable = !publication.retained();
    }
  }

  /** Withdraws the memory; a Manager that is gone needs no answer. */
  @Override
  public void close() {
    memory.close();
  }
}
