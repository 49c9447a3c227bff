package io.orbitkv.systemtests.simulation;

import io.orbitkv.manager.memory.Allocation;
import java.util.List;

/**
 * Something that may still read or write memory: as it is, not as anybody says that it is.
 *
 * <p>Live from the moment from which a byte may move to the last one.
 */
interface Movement {
  /** Whose memory. */
  SimulatedManager owner();

  /** Which uses of it. */
  List<Allocation> touched();

  /** Whether a byte can still move. */
  boolean live();
}
