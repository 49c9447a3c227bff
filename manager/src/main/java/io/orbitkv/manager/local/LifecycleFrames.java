package io.orbitkv.manager.local;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.MemoryOffer;
import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;

/** Answers the lifecycle frames of one session. Runs on its reader thread. */
final class LifecycleFrames {
  private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);
  private static final byte HEALTH_OPEN = 1;
  private static final byte HEALTH_CLOSING = 2;

  private final LocalSession session;
  private final LocalContext context;

  LifecycleFrames(LocalSession session, LocalContext context) {
    this.session = session;
    this.context = context;
  }

  /** Throws the refusal, if it is one. */
  void accept(Frame frame) {
    FrameKind kind = FrameKind.ofWire(frame.header().kind());
    if (kind == null) {
      throw unexpected(frame);
    }
    long id = frame.header().requestId();
    switch (kind) {
      case REGISTER -> answer(FrameKind.REGISTERED, id, register(frame).encode());
      case UNREGISTER -> unregister(id, RegistrationId.decode(frame.body()));
      case STATUS -> answer(FrameKind.STATUS_TEXT, id, status());
      case HEALTH -> answer(FrameKind.HEALTH_STATE, id, health());
      case CLOSE -> {
        if (id == 0) {
          throw new TransportException(FaultCode.INVALID, "CLOSE with request id 0; use another");
        }
        session.beginClosing(id);
      }
      default -> throw unexpected(frame);
    }
  }

  private RegistrationId register(Frame frame) {
    MemoryOffer offer = MemoryOffer.decode(frame.body());
    if (offer.kind() == MemoryOffer.CUDA_IPC) {
      throw new TransportException(
          FaultCode.UNSUPPORTED, "register: CUDA memory is not served yet; offer a memfd");
    }
    if (offer.kind() != MemoryOffer.HOST_SHARED) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "register: memory of kind " + offer.kind() + " is not known here; offer a memfd");
    }
    if (frame.descriptors().size() != 1) {
      throw new TransportException(
          FaultCode.INVALID,
          "register: " + frame.descriptors().size() + " descriptors; send one memfd");
    }
    return session.memories().register(offer, frame.descriptors().getFirst());
  }

  private void unregister(long id, RegistrationId asked) {
    session.admit(SessionWork.Kind.LIFECYCLE, 0);
    boolean accepted = false;
    try {
      session
          .memories()
          .unregister(
              asked,
              () -> session.answer(SessionWork.Kind.LIFECYCLE, FrameKind.UNREGISTERED, id, EMPTY));
      accepted = true;
    } finally {
      if (!accepted) {
        session.settle(SessionWork.Kind.LIFECYCLE, 0);
      }
    }
  }

  private MemorySegment health() {
    byte state = session.stopping() ? HEALTH_CLOSING : HEALTH_OPEN;
    return MemorySegment.ofArray(new byte[] {state, 0, 0, 0});
  }

  private MemorySegment status() {
    return MemorySegment.ofArray(context.service().statusJson().getBytes(UTF_8));
  }

  private void answer(FrameKind kind, long requestId, MemorySegment body) {
    session.writer().answer(kind, requestId, body);
  }

  private static TransportException unexpected(Frame frame) {
    return new TransportException(
        FaultCode.UNSUPPORTED,
        "frame of kind " + frame.header().kind() + " is not served; use one of this version");
  }
}
