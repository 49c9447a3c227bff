package io.orbitkv.cli.bench;

import java.nio.file.Path;

/** Two Managers that know each other, each a process; owned by who started them. */
public interface TwoManagers extends AutoCloseable {
  /** Socket of the one that has the blocks. */
  Path owner();

  /** Socket of the one that is asked for them. */
  Path asked();

  /** The first one's process. */
  ProcessHandle ownerProcess();

  /** The second one's. */
  ProcessHandle askedProcess();

  /** Ends both. */
  @Override
  void close();

  /** Starts them. */
  interface Start {
    /**
     * Starts both and waits until they know each other.
     *
     * @param ownerPoolBytes pool of the first
     * @param askedPoolBytes pool of the second
     * @throws io.orbitkv.api.TransportException if one does not come up
     */
    TwoManagers run(long ownerPoolBytes, long askedPoolBytes) throws InterruptedException;
  }
}
