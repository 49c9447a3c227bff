package io.orbitkv.manager.control;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.orbitkv.api.Epoch;
import io.orbitkv.manager.membership.ControlAddress;
import io.orbitkv.manager.membership.Member;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requester's end of the control plane: one link to each member, kept up by itself. All its
 * work is done on one thread, {@code orbitkv-control-links}. Thread-safe; ends with {@link #close}.
 */
public final class PeerLinks implements AutoCloseable {
  /** How long a request waits for its answer unless said otherwise. */
  public static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);

  private static final Logger log = LoggerFactory.getLogger(PeerLinks.class);
  // gRPC sends them no more often; with the timeout, a dead peer is noticed within 13 s.
  private static final long KEEPALIVE_SECONDS = 10;
  private static final long KEEPALIVE_TIMEOUT_SECONDS = 3;
  private static final int CONNECT_MILLIS = 2_000;

  private final ControlService self;
  private final PeerListener listener;
  private final ControlSecurity security;
  private final long timeoutNanos;
  private final ControlLoop loop = new ControlLoop("orbitkv-control-links");
  private final Map<String, AddressLink> links = new ConcurrentHashMap<>();
  private final Map<Epoch, AddressLink> byEpoch = new ConcurrentHashMap<>();
  private Map<String, Member> members = Map.of();
  private boolean closed;

  /** As the other constructor, with {@link #REQUEST_TIMEOUT}. */
  public PeerLinks(ControlService self, PeerListener listener, ControlSecurity security) {
    this(self, listener, security, REQUEST_TIMEOUT);
  }

  /**
   * Without members.
   *
   * @param self says Hello for this Manager, and decides by the peer's Hello whether to talk to it
   * @param listener told on the links' thread
   * @param requestTimeout after which a request fails, PEER_LOST; checked every 50 ms
   */
  public PeerLinks(
      ControlService self,
      PeerListener listener,
      ControlSecurity security,
      Duration requestTimeout) {
    this.self = self;
    this.listener = listener;
    this.security = security;
    this.timeoutNanos = requestTimeout.toNanos();
  }

  /**
   * The whole set of other members: links to new addresses are begun, links to addresses that are
   * not among them any more are ended. A member that came back is tried at once. This Manager's own
   * address may be among them.
   *
   * @throws io.orbitkv.api.TransportException INVALID if an address is none; nothing changed then
   */
  public void setMembers(Set<Member> members) {
    Map<String, Member> byAddress = new HashMap<>();
    for (Member member : members) {
      byAddress.put(ControlAddress.parse(member.controlAddress()).toString(), member);
    }
    loop.run(() -> replaceMembers(byAddress));
  }

  /** The links that have a live stream, in no order. */
  public List<PeerLink> up() {
    return byEpoch.values().stream()
        .filter(link -> link.hello().isPresent())
        .map(PeerLink.class::cast)
        .toList();
  }

  /** The link with a live stream to that incarnation, or null. */
  public @Nullable PeerLink up(Epoch managerEpoch) {
    return byEpoch.get(managerEpoch);
  }

  /** Tells every owner that this Manager's transport was replaced: its endpoint, epoch, bytes. */
  public void announceEndpoint(PeerHello self) {
    links.values().forEach(link -> link.announceEndpoint(self));
  }

  /**
   * Ends every link; what waits for an answer fails, PEER_LOST. Waits at most 4 s. A second call is
   * a no-op.
   */
  @Override
  public void close() {
    loop.runAndWait(
        () -> {
          closed = true;
          replaceMembers(Map.of());
        });
    loop.stop();
  }

  ControlService self() {
    return self;
  }

  ControlLoop loop() {
    return loop;
  }

  /** A new connection for one stream. */
  LinkStream open(String address, LinkStream.Events events) {
    ControlAddress where = ControlAddress.parse(address);
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(where.host(), where.port(), security.channel())
            .eventLoopGroup(loop.group())
            .channelType(NioSocketChannel.class)
            .directExecutor()
            .disableRetry()
            .proxyDetector(target -> null)
            .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
            .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
            .keepAliveTimeout(KEEPALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS)
            .build();
    return new LinkStream(address, channel, loop, timeoutNanos, events);
  }

  /** Whether that link is the one to that incarnation; a second address of it is not. */
  boolean claim(Epoch managerEpoch, AddressLink link) {
    return byEpoch.putIfAbsent(managerEpoch, link) == null;
  }

  void release(Epoch managerEpoch, AddressLink link) {
    byEpoch.remove(managerEpoch, link);
  }

  /** A listener that throws harms nobody else. */
  void tell(Consumer<PeerListener> event) {
    try {
      event.accept(listener);
    } catch (RuntimeException e) {
      log.error("a defect: the listener of peers failed", e);
    }
  }

  private void replaceMembers(Map<String, Member> next) {
    Map<String, Member> before = members;
    if (closed && !next.isEmpty()) {
      return;
    }
    members = next;
    before.forEach(
        (address, member) -> {
          AddressLink link = next.containsKey(address) ? null : links.remove(address);
          if (link != null) {
            link.close(closed ? "this Manager is on its way down" : "it is no member any more");
          }
        });
    next.forEach(
        (address, member) -> {
          if (!member.equals(before.get(address))) {
            links.computeIfAbsent(address, fresh -> new AddressLink(fresh, this)).connect();
          }
        });
  }
}
