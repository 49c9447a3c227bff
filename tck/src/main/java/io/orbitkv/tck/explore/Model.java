package io.orbitkv.tck.explore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A model to explore. It must be deterministic: the same state always has the same steps.
 *
 * @param <S> its states: immutable, with {@code equals} and {@code hashCode}; a record does
 */
public interface Model<S> {
  /** The states in which it begins, at least one. */
  List<S> initial();

  /** Every step that a state allows, in an order that does not change; perhaps none. */
  List<Step<S>> steps(S state);

  /**
   * What is wrong with a state, in one line that begins with UNSAFE (memory was touched that should
   * not be) or WRONG (a promise was not kept); null if nothing is.
   */
  @Nullable String broken(S state);

  /** Whether a state is one in which everything may stay for ever. It may still have steps. */
  boolean ended(S state);
}
