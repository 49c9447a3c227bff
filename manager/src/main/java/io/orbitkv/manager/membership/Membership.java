package io.orbitkv.manager.membership;

import java.util.Set;
import java.util.function.Consumer;

/**
 * Which other Managers there are. A source of names, never of truth: a member may be dead. A
 * service: a second close is a no-op.
 */
public interface Membership extends AutoCloseable {
  /**
   * Begins to watch. The sink is told the whole set of other members at every change, from one
   * thread, never this Manager itself.
   */
  void watch(Consumer<Set<Member>> sink);

  /**
   * Makes this Manager known.
   *
   * @throws io.orbitkv.api.TransportException if it can not be; nothing was published then
   */
  void publish(Member self);

  /** Takes this Manager back: the first step of its withdrawal. Repeatable. */
  void withdraw();

  /** Ends watching, and withdraws. */
  @Override
  void close();
}
