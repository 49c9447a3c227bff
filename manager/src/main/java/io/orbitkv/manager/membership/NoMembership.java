package io.orbitkv.manager.membership;

import java.util.Set;
import java.util.function.Consumer;

/** The membership of a Manager that stands alone: nobody else, and nobody is told. */
public final class NoMembership implements Membership {
  /** It has no state. */
  public NoMembership() {}

  @Override
  public void watch(Consumer<Set<Member>> sink) {}

  @Override
  public void publish(Member self) {}

  @Override
  public void withdraw() {}

  @Override
  public void close() {}
}
