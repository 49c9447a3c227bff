package io.orbitkv.manager.local;

import io.orbitkv.adapter.Role;
import io.orbitkv.adapter.plan.PlanLayout;
import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Hello;
import io.orbitkv.adapter.wire.Refusal;
import io.orbitkv.adapter.wire.Welcome;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Membarrier;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.PeerCredentials;
import io.orbitkv.ffm.PidFd;
import io.orbitkv.manager.plan.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns a new connection into a session, or refuses it with the reason. Thread-safe. */
final class Greeting {
  private static final Logger LOG = LoggerFactory.getLogger(Greeting.class);
  private static final int HELLO_BYTES = 64 << 10;

  private final LocalOptions options;
  private final LocalContext context;
  private final Sessions sessions;
  private final List<Fd> arenas;
  private final List<Welcome.ArenaOffer> offers;

  /** The descriptors stay the caller's. */
  Greeting(
      LocalOptions options,
      LocalContext context,
      Sessions sessions,
      List<Fd> arenas,
      List<Welcome.ArenaOffer> offers) {
    this.options = options;
    this.context = context;
    this.sessions = sessions;
    this.arenas = arenas;
    this.offers = offers;
  }

  /** The welcomed session; null if there is none, and then the channel is closed. */
  @Nullable LocalSession greet(FrameChannel channel) {
    LocalSession session = null;
    try {
      long helloNanos = TimeUnit.MILLISECONDS.toNanos(options.limits().helloMillis());
      channel.receiveBy(System.nanoTime() + helloNanos);
      Frame frame = channel.receive(HELLO_BYTES);
      if (frame != null) {
        try {
          session = welcome(channel, frame);
        } finally {
          frame.discard();
        }
      }
      return session;
    } catch (TransportException e) {
      LOG.info("connection refused: {}", e.getMessage());
      context.countRefusal(e);
      refuse(channel, e);
      return null;
    } catch (NativeException e) {
      LOG.info("connection lost before its session began: {}", e.getMessage());
      return null;
    } finally {
      if (session == null) {
        channel.close();
      }
    }
  }

  private LocalSession welcome(FrameChannel channel, Frame frame) {
    int version = frame.header().version();
    if (version != Command.VERSION) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "protocol version "
              + version
              + " is not spoken here, this Manager speaks "
              + Command.VERSION
              + "; use the same release of OrbitKV on both sides");
    }
    if (!frame.is(FrameKind.HELLO)) {
      throw new TransportException(FaultCode.INVALID, "first frame is not HELLO");
    }
    PeerCredentials peer = channel.stream().peerCredentials();
    Admission.check(peer, channel.stream(), options);
    Hello hello = Hello.decode(frame.body());
    PidFd pidFd = pidFd(frame, peer);
    LocalSession session = null;
    List<Fd> ring = new ArrayList<>();
    try {
      // By user, so that nobody joins another user's instance by its name.
      String instance = peer.uid() + "/" + hello.instance();
      session = sessions.open(peer.pid(), pidFd, channel, ring, instance, traits(hello));
      channel.identify(context.epoch(), session.token());
      channel.receiveWithoutDeadline();
      send(channel, frame.header().requestId(), session, ring);
    } finally {
      if (session == null) {
        pidFd.close();
      }
      if (!ring.isEmpty()) {
        ring.getFirst().close();
      }
      if (session != null) {
        session.member().sent();
      }
    }
    session.start();
    LOG.info(
        "session {} opened: instance {}, role {}, process {}",
        session.slot(),
        hello.instance(),
        hello.role(),
        peer.pid());
    return session;
  }

  /** Throws UNSUPPORTED if the client depends on a barrier that this kernel does not have. */
  private static Member.Traits traits(Hello hello) {
    if (!hello.fences()) {
      try {
        Membarrier.require();
      } catch (NativeException e) {
        throw new TransportException(
            FaultCode.UNSUPPORTED, "a client that can not fence: " + e.getMessage(), e);
      }
    }
    return new Member.Traits(
        0,
        hello.role() == Role.WORKER.wire(),
        ClientOrdering.here(hello.fences()),
        hello.deviceCopies());
  }

  private void send(FrameChannel channel, long requestId, LocalSession session, List<Fd> ring) {
    Welcome welcome =
        new Welcome(
            Command.VERSION,
            context.epoch(),
            session.token(),
            session.slot(),
            offers,
            new Welcome.RingOffer(RingLayout.VERSION, RingLayout.BYTES),
            new Welcome.PlansOffer(
                PlanLayout.VERSION, PlanLayout.BYTES, session.member().firstGeneration()),
            new Welcome.ClaimsOffer(PlanLayout.CLAIMS_VERSION, PlanLayout.CLAIM_BYTES));
    List<Fd> descriptors = new ArrayList<>(arenas);
    descriptors.addAll(ring);
    try {
      channel.send(FrameKind.WELCOME, requestId, welcome.encode(), descriptors.toArray(new Fd[0]));
    } catch (NativeException | IllegalStateException e) {
      session.writer().abandon();
      LOG.debug("session {}: gone before its WELCOME: {}", session.slot(), e.getMessage());
    }
  }

  private static PidFd pidFd(Frame frame, PeerCredentials peer) {
    if (frame.descriptors().size() != 1) {
      throw new TransportException(
          FaultCode.INVALID,
          "HELLO with " + frame.descriptors().size() + " descriptors; send the process's pidfd");
    }
    Fd received = frame.descriptors().getFirst();
    Fd own = received.duplicate();
    boolean adopted = false;
    try {
      PidFd pidFd = PidFd.adopt(own);
      adopted = peer.pid() > 0 && pidFd.pid() == peer.pid();
      if (adopted) {
        return pidFd;
      }
    } catch (IllegalArgumentException e) {
      throw new TransportException(
          FaultCode.INVALID, "HELLO's descriptor is not a pidfd; send one of pidfd_open", e);
    } finally {
      if (!adopted) {
        own.close();
      }
    }
    throw new TransportException(
        FaultCode.DENIED,
        "HELLO's pidfd is not of process "
            + peer.pid()
            + " that connected; connect and send from one process");
  }

  private static void refuse(FrameChannel channel, TransportException fault) {
    try {
      channel.send(FrameKind.REFUSED, 0, Refusal.of(fault).encode());
    } catch (NativeException e) {
      LOG.debug("refusal was not delivered: {}", e.getMessage());
    }
  }
}
