package io.orbitkv.bench.channel;

import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * What the caller provides.
 *
 * @param ends the command that runs {@link ChannelEnd} with a kind and an address
 * @param manager the socket of a Manager that serves
 * @param managerPid its process
 * @param python folders where the package orbitkv may be, besides those that Python looks into
 * @param directory private, for sockets and programs; its owner removes it
 */
public record ChannelSetUp(
    UnaryOperator<List<String>> ends,
    Path manager,
    long managerPid,
    List<Path> python,
    Path directory) {
  /** Copies the list. */
  public ChannelSetUp {
    python = List.copyOf(python);
  }
}
