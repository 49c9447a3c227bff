package io.orbitkv.manager;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.GrantId;
import io.orbitkv.manager.config.HostPort;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.config.MembershipKind;
import io.orbitkv.manager.control.ControlSecurity;
import io.orbitkv.manager.control.ControlServer;
import io.orbitkv.manager.control.ControlService;
import io.orbitkv.manager.control.PeerLinks;
import io.orbitkv.manager.control.PeerListener;
import io.orbitkv.manager.membership.HostRegistry;
import io.orbitkv.manager.membership.Member;
import io.orbitkv.manager.membership.Membership;
import io.orbitkv.manager.membership.NoMembership;
import io.orbitkv.manager.membership.StaticMembership;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What connects a Manager with others: membership, the control server, the links to peers. A
 * Manager without membership has no listener.
 */
final class ControlPlane implements AutoCloseable {
  private final ManagerConfiguration configuration;
  private final Epoch epoch;
  private final Membership membership;
  private volatile @Nullable ControlServer server;
  private volatile @Nullable PeerLinks links;
  private volatile String address = "";

  ControlPlane(ManagerConfiguration configuration, Epoch epoch) {
    this.configuration = configuration;
    this.epoch = epoch;
    this.membership =
        switch (configuration.membership()) {
          case NONE -> new NoMembership();
          case LOCAL -> new HostRegistry(configuration.registryDirectory());
          case STATIC ->
              new StaticMembership(configuration.peers().stream().map(HostPort::toString).toList());
        };
  }

  /** Begins to listen; nobody is told of it before {@link #publish()}. */
  void start(ControlService service, PeerListener listener) {
    ControlSecurity security = ControlSecurity.plaintext();
    if (configuration.membership() == MembershipKind.NONE) {
      return;
    }
    ControlServer listening =
        ControlServer.start(
            new InetSocketAddress(configuration.host(), configuration.port()), service, security);
    server = listening;
    address = new HostPort(configuration.publishedHost(), listening.port()).toString();
    links = new PeerLinks(service, listener, security);
  }

  /** The bound port; 0 if there is no listener. */
  int port() {
    ControlServer listening = server;
    return listening == null ? 0 : listening.port();
  }

  /** Where peers reach it; empty if there is no listener. */
  String address() {
    return address;
  }

  /** Makes this Manager known, and begins to look for others. */
  void publish() {
    PeerLinks known = links;
    if (known != null) {
      membership.publish(new Member(address, epoch.toString()));
      membership.watch(known::setMembers);
    }
  }

  /** Takes this Manager back from membership. */
  void withdraw() {
    membership.withdraw();
  }

  void announceRevoked(Epoch requester, GrantId grant) {
    ControlServer listening = server;
    if (listening != null) {
      listening.announceRevoked(requester, grant);
    }
  }

  @Override
  public void close() {
    membership.close();
    PeerLinks known = links;
    if (known != null) {
      known.close();
    }
    ControlServer listening = server;
    if (listening != null) {
      listening.close();
    }
  }
}
