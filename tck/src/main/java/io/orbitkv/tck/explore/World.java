package io.orbitkv.tck.explore;

import org.jspecify.annotations.Nullable;

/**
 * Real mutable objects with a simulated environment (kernel, network, other threads, time) around
 * them. {@link WorldModel} builds it anew for every visit and leads it along a path, in one thread,
 * so it must be deterministic: no clocks, no random choices that its {@link #fingerprint()} or its
 * steps depend on, no threads of its own.
 */
public interface World extends AutoCloseable {
  /** Offers every step that is possible now, in an order that depends on its state only. */
  void offer(Steps steps);

  /**
   * The identity of its state: equal if and only if nothing that can still happen differs. An
   * immutable value with {@code equals} and {@code hashCode}; a list or a record does. What it
   * leaves out is not explored; {@link WorldModel} notices that where the steps at once differ.
   */
  Object fingerprint();

  /** As {@link Model#broken}. A step that throws is WRONG without it. */
  @Nullable String broken();

  /** As {@link Model#ended}. */
  boolean ended();

  /** Frees what it has outside the heap. */
  @Override
  default void close() {}
}
