package io.orbitkv.adapter;

import io.orbitkv.adapter.plan.PlanMemory;
import io.orbitkv.adapter.ring.RingMemory;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Hello;
import io.orbitkv.adapter.wire.Refusal;
import io.orbitkv.adapter.wire.SharedMapping;
import io.orbitkv.adapter.wire.Welcome;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Errno;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.PidFd;
import io.orbitkv.ffm.Protection;
import io.orbitkv.ffm.UnixStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a client has once a Manager has welcomed it. Whoever gets it owns all of it.
 *
 * @param channel identified, without a reader yet
 * @param welcome what the Manager said
 * @param arenas its arenas, mapped for reading
 * @param ring what carries the commands
 * @param plans what the instance may copy, mapped for reading
 * @param claims what this session says of plans
 * @param manager the Manager's process; null if it can not be known, as in another pid namespace
 */
record Bootstrap(
    FrameChannel channel,
    Welcome welcome,
    List<SharedMapping> arenas,
    RingMemory ring,
    SharedMapping plans,
    SharedMapping claims,
    @Nullable PidFd manager) {
  /** Connects and introduces this process; on any failure nothing is left open. */
  static Bootstrap run(Path socket, ClientOptions options) {
    FrameChannel channel = new FrameChannel(connect(socket));
    boolean done = false;
    try {
      ChannelConfig.checkOfProcess(socket);
      checkUser(socket, channel.stream().peerCredentials().uid(), options);
      channel.receiveBy(System.nanoTime() + options.timeout().toNanos());
      Frame frame = greet(socket, channel, options);
      try {
        Bootstrap bootstrap = welcomed(socket, channel, frame);
        done = true;
        return bootstrap;
      } finally {
        frame.discard();
      }
    } catch (NativeException e) {
      throw noManager(socket, e);
    } finally {
      if (!done) {
        channel.close();
      }
    }
  }

  private static UnixStream connect(Path socket) {
    ChannelConfig.checkOfProcess(socket);
    try {
      return UnixStream.connect(socket);
    } catch (NativeException e) {
      throw noManager(socket, e);
    } catch (IllegalArgumentException e) {
      throw new TransportException(FaultCode.INVALID, String.valueOf(e.getMessage()), e);
    }
  }

  private static TransportException noManager(Path socket, NativeException cause) {
    return new TransportException(
        FaultCode.PEER_LOST,
        "no Manager behind "
            + socket
            + " ("
            + cause.errnoName()
            + "); start one with orbitkv manager, or name its socket",
        cause);
  }

  private static void checkUser(Path socket, int uid, ClientOptions options) {
    int own = UnixStream.currentUid();
    boolean expected =
        options.managerUid() == ClientOptions.OWN_USER_OR_ROOT
            ? uid == own || uid == 0
            : uid == options.managerUid();
    if (!expected) {
      throw new TransportException(
          FaultCode.DENIED,
          "socket "
              + socket
              + " is held by a process of user "
              + uid
              + ", not by a Manager of user "
              + (options.managerUid() == ClientOptions.OWN_USER_OR_ROOT
                  ? own
                  : options.managerUid())
              + "; remove that process, or name its user as the Manager's");
    }
  }

  private static Frame greet(Path socket, FrameChannel channel, ClientOptions options) {
    try (PidFd self = PidFd.openSelf()) {
      Hello hello = new Hello(options.instance(), options.role().wire());
      sendHello(channel, hello, self);
    }
    Frame frame = channel.receive(FrameHeader.BODY_LIMIT);
    if (frame == null) {
      throw new TransportException(
          FaultCode.PEER_LOST,
          "Manager behind " + socket + " closed the connection; try again once it is running");
    }
    return frame;
  }

  /** A Manager that has refused and closed already can still be heard. */
  private static void sendHello(FrameChannel channel, Hello hello, PidFd self) {
    try {
      channel.send(FrameKind.HELLO, 0, hello.encode(), self.fd());
    } catch (NativeException e) {
      if (e.errno() != Errno.EPIPE) {
        throw e;
      }
    }
  }

  private static Bootstrap welcomed(Path socket, FrameChannel channel, Frame frame) {
    int version = frame.header().version();
    if (frame.is(FrameKind.REFUSED)) {
      Refusal refusal = Refusal.decode(frame.body());
      throw new TransportException(
          refusal.code(), "Manager behind " + socket + " refused: " + refusal.text());
    }
    if (version != Command.VERSION) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "Manager behind "
              + socket
              + " speaks protocol version "
              + version
              + ", this client "
              + Command.VERSION
              + "; use the same release of OrbitKV on both sides");
    }
    if (!frame.is(FrameKind.WELCOME)) {
      throw new TransportException(
          FaultCode.CORRUPT, "Manager behind " + socket + " answered HELLO with something else");
    }
    Welcome welcome = Welcome.decode(frame.body());
    List<Fd> fds = frame.descriptors();
    int count = welcome.arenas().size();
    if (fds.size() != count + Welcome.SESSION_DESCRIPTORS) {
      throw new TransportException(
          FaultCode.CORRUPT, "WELCOME with " + count + " arenas and " + fds.size() + " fds");
    }
    List<Fd> own = fds.subList(count, fds.size());
    List<Runnable> undo = new ArrayList<>();
    boolean done = false;
    try {
      RingMemory ring = RingMemory.attach(own, welcome.ring().version(), welcome.ring().bytes());
      undo.add(ring::close);
      Fd plansFd = own.get(Welcome.RING_DESCRIPTORS);
      SharedMapping plans =
          PlanMemory.attachPlans(plansFd, welcome.plans().version(), welcome.plans().bytes());
      undo.add(() -> plans.close(() -> {}));
      Fd claimsFd = own.get(Welcome.RING_DESCRIPTORS + 1);
      SharedMapping claims =
          PlanMemory.attachClaims(claimsFd, welcome.claims().version(), welcome.claims().bytes());
      undo.add(() -> claims.close(() -> {}));
      List<SharedMapping> arenas = map(welcome, fds.subList(0, count));
      arenas.forEach(arena -> undo.add(() -> arena.close(() -> {})));
      channel.identify(welcome.epoch(), welcome.session());
      channel.receiveWithoutDeadline();
      PidFd manager = manager(channel.stream());
      done = true;
      return new Bootstrap(channel, welcome, arenas, ring, plans, claims, manager);
    } finally {
      if (!done) {
        undo.forEach(Runnable::run);
      }
    }
  }

  private static @Nullable PidFd manager(UnixStream stream) {
    Optional<PidFd> known = stream.peerPidFd();
    if (known.isPresent()) {
      return known.get();
    }
    try {
      return PidFd.open(stream.peerCredentials().pid());
    } catch (NativeException | IllegalArgumentException _) {
      return null; // the socket's end still tells
    }
  }

  private static List<SharedMapping> map(Welcome welcome, List<Fd> descriptors) {
    List<SharedMapping> arenas = new ArrayList<>();
    boolean done = false;
    try {
      for (int i = 0; i < descriptors.size(); i++) {
        arenas.add(map(descriptors.get(i), welcome.arenas().get(i).bytes()));
      }
      done = true;
      return List.copyOf(arenas);
    } catch (IllegalArgumentException e) {
      throw new TransportException(FaultCode.CORRUPT, "arena of WELCOME: " + e.getMessage(), e);
    } finally {
      if (!done) {
        arenas.forEach(arena -> arena.close(() -> {}));
      }
    }
  }

  private static SharedMapping map(Fd descriptor, long bytes) {
    if ((Memfd.seals(descriptor) & Memfd.F_SEAL_SHRINK) == 0) {
      throw new IllegalArgumentException("it is not sealed against shrinking");
    }
    Mapping mapping = Mapping.map(descriptor, 0, bytes, Protection.READ, false);
    boolean done = false;
    try {
      mapping.dontFork();
      done = true;
      return new SharedMapping(mapping);
    } finally {
      if (!done) {
        mapping.close();
      }
    }
  }
}
