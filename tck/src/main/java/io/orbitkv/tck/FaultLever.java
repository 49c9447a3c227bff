package io.orbitkv.tck;

import io.orbitkv.api.spi.Transport;
import java.net.URI;

/**
 * The link from requesters to one owner, under the kit's control. Owned by the kit; thread-safe. A
 * lever that can not do one of these throws {@link UnsupportedOperationException}, and its fixture
 * declines the {@link Behaviour}.
 */
public interface FaultLever extends AutoCloseable {
  /** What requesters connect to in order to reach the owner. */
  URI endpoint();

  /** So many more bytes, about, come from the owner; then none until {@link #resume()}. */
  void stallAfter(long bytes);

  /** Everything goes on. */
  void resume();

  /** Breaks what is under way; work that begins later is carried. */
  void cut();

  /** From now on another owner is behind {@link #endpoint()}. */
  void redirect(Transport successor);

  /** Takes the lever away; also ends a stall. */
  @Override
  void close();
}
