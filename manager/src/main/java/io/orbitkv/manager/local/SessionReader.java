package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Refusal;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Poll;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the frames of one session, on that session's reader thread, and has them answered. */
final class SessionReader {
  private static final Logger LOG = LoggerFactory.getLogger(SessionReader.class);

  private final LocalSession session;
  private final FrameChannel channel;
  private final LocalContext context;
  private final LifecycleFrames lifecycle;

  SessionReader(LocalSession session, FrameChannel channel, LocalContext context) {
    this.session = session;
    this.channel = channel;
    this.context = context;
    this.lifecycle = new LifecycleFrames(session, context);
  }

  /** Runs until the client closes, breaks the protocol or is gone. */
  void run() {
    String reason = "its client closed the connection";
    BodyBudget.Share body = context.bodies().new Share();
    try {
      while (session.state() == SessionState.OPEN) {
        session.writer().awaitRoom();
        Frame frame = channel.receive(FrameHeader.BODY_LIMIT, body);
        if (frame == null) {
          abandonIfGone();
          break;
        }
        try {
          accept(frame);
        } finally {
          frame.discard();
          body.end();
        }
      }
    } catch (TransportException e) {
      reason = "its client can not be read on: " + e.getMessage();
      session.writer().answer(FrameKind.REFUSED, 0, Refusal.of(e).encode());
    } catch (NativeException e) {
      reason = "receiving failed: " + e.getMessage();
      session.writer().abandon();
    } catch (IllegalStateException _) {
      reason = "its connection was closed";
    } catch (InterruptedException _) {
      reason = "its reader was interrupted";
      session.writer().abandon();
    } finally {
      body.end();
      session.beginClosing(0);
      LOG.info("session {} ends: {}", session.slot(), reason);
    }
  }

  private void accept(Frame frame) {
    session.ring().look();
    FrameHeader header = frame.header();
    TransportException refusal = misaddressed(header);
    if (refusal == null) {
      try {
        lifecycle.accept(frame);
        return;
      } catch (TransportException e) {
        context.countRefusal(e);
        refusal = e;
      } catch (RuntimeException e) {
        LOG.error("session {}: a frame of kind {} failed", session.slot(), header.kind(), e);
        refusal = new TransportException(FaultCode.INTERNAL, "Manager failed: " + e);
      }
    }
    session.writer().answer(FrameKind.REFUSED, header.requestId(), Refusal.of(refusal).encode());
  }

  private @Nullable TransportException misaddressed(FrameHeader header) {
    if (header.version() != Command.VERSION) {
      return new TransportException(
          FaultCode.UNSUPPORTED,
          "frame of protocol version "
              + header.version()
              + "; this Manager speaks "
              + Command.VERSION);
    }
    if (!header.epoch().equals(context.epoch())) {
      return new TransportException(
          FaultCode.STALE_EPOCH,
          "frame names Manager epoch "
              + header.epoch()
              + ", this one is "
              + context.epoch()
              + "; connect again");
    }
    if (header.session() != session.token()) {
      return new TransportException(
          FaultCode.DENIED, "frame names another session; use the token of WELCOME");
    }
    return null;
  }

  /** A client that only ended its sending half still gets its answers. */
  private void abandonIfGone() {
    Poll poll = new Poll(1);
    int index = poll.add(channel.stream().fd(), 0);
    if (poll.poll(0) > 0 && (poll.ready(index) & Poll.HUP) != 0) {
      session.writer().abandon();
    }
  }
}
