package io.orbitkv.manager.membership;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A list of addresses that never changes. It publishes nothing: every Manager is given the list,
 * which may name the Manager itself. The sink is told in {@link #watch}, and again by {@link
 * #publish} if that shows which address is its own, by the calling thread. Thread-safe.
 */
public final class StaticMembership implements Membership {
  private final Set<Member> listed = new LinkedHashSet<>();
  private @Nullable Consumer<Set<Member>> sink;
  private @Nullable String own;
  private boolean closed;

  /**
   * A list.
   *
   * @param addresses {@code host:port} each, IPv6 in brackets; a repeated one counts once
   * @throws io.orbitkv.api.TransportException INVALID, naming the first that is no address
   */
  public StaticMembership(List<String> addresses) {
    for (String address : addresses) {
      listed.add(new Member(ControlAddress.parse(address.strip()).toString(), ""));
    }
  }

  @Override
  public synchronized void watch(Consumer<Set<Member>> sink) {
    this.sink = sink;
    tell();
  }

  @Override
  public synchronized void publish(Member self) {
    own = self.controlAddress();
    if (listed.contains(new Member(own, ""))) {
      tell();
    }
  }

  @Override
  public void withdraw() {}

  @Override
  public synchronized void close() {
    closed = true;
    sink = null;
  }

  private void tell() {
    if (sink == null || closed) {
      return;
    }
    Set<Member> others = new LinkedHashSet<>(listed);
    others.removeIf(member -> member.controlAddress().equals(own));
    sink.accept(Set.copyOf(others));
  }
}
