package io.orbitkv.manager.control;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.proto.Acknowledged;
import io.orbitkv.manager.control.proto.Authorize;
import io.orbitkv.manager.control.proto.Complete;
import io.orbitkv.manager.control.proto.ControlReply;
import io.orbitkv.manager.control.proto.ControlRequest;
import io.orbitkv.manager.control.proto.EndpointChanged;
import io.orbitkv.manager.control.proto.Hello;
import io.orbitkv.manager.control.proto.Locate;
import io.orbitkv.manager.control.proto.Revoked;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner's end of one stream. Everything but the announcements happens on the server's thread;
 * the stream is bound to the Manager epoch of its Hello.
 */
final class ControlSession implements StreamObserver<ControlRequest> {
  private static final Logger log = LoggerFactory.getLogger(ControlSession.class);

  private final ControlService service;
  private final ServerCallStreamObserver<ControlReply> replies;
  private final Consumer<ControlSession> ended;
  private final Object sending = new Object();
  private volatile @Nullable PeerHello peer;
  private volatile boolean over;
  private boolean owesRequest;

  ControlSession(
      ControlService service,
      ServerCallStreamObserver<ControlReply> replies,
      Consumer<ControlSession> ended) {
    this.service = service;
    this.replies = replies;
    this.ended = ended;
    // One request at a time, and none from a peer that does not read its replies.
    replies.disableAutoRequest();
    replies.setOnReadyHandler(this::ready);
    replies.setOnCancelHandler(() -> end("its stream broke"));
    replies.request(1);
  }

  /** Who is at the other end; null before its Hello was accepted. */
  @Nullable PeerHello peer() {
    return peer;
  }

  boolean isOf(Epoch managerEpoch) {
    PeerHello known = peer;
    return known != null && !over && known.managerEpoch().equals(managerEpoch);
  }

  void announceRevoked(GrantId grant) {
    send(
        ControlReply.newBuilder()
            .setRevoked(Revoked.newBuilder().setGrant(WireValues.encode(grant)))
            .build());
  }

  void announceEndpoint(PeerHello self) {
    if (peer != null) {
      send(
          ControlReply.newBuilder()
              .setEndpointChanged(EndpointChanged.newBuilder().setHello(ControlCodec.encode(self)))
              .build());
    }
  }

  /** Ends a stream on which nobody said Hello in time. */
  void expectHello() {
    if (peer == null) {
      refuse(
          new TransportException(
              FaultCode.PEER_LOST, "no Hello within " + ControlLimits.HELLO_MILLIS + " ms"));
    }
  }

  /** Says why, and ends the stream. */
  void refuse(TransportException reason) {
    refuse(0, reason);
  }

  @Override
  public void onNext(ControlRequest request) {
    if (over) {
      return;
    }
    if (peer == null) {
      greet(request);
    } else {
      answer(request);
    }
    owesRequest = true;
    ready();
  }

  @Override
  public void onError(Throwable cause) {
    end("its stream broke: " + cause.getMessage());
  }

  @Override
  public void onCompleted() {
    synchronized (sending) {
      if (!over && !replies.isCancelled()) {
        replies.onCompleted();
      }
    }
    end("it ended its stream");
  }

  private void ready() {
    if (owesRequest && !over && replies.isReady()) {
      owesRequest = false;
      replies.request(1);
    }
  }

  private void greet(ControlRequest request) {
    if (!request.hasHello()) {
      refuse(request.getCorrelation(), WireValues.invalid("the first request must be Hello"));
      return;
    }
    try {
      PeerHello self = service.hello();
      PeerHello greeted = ControlCodec.hello(request.getHello(), self);
      // Its own Manager, listed among its peers: it will see that by the Hello, and go.
      if (!greeted.managerEpoch().equals(self.managerEpoch())) {
        service.accept(greeted);
        peer = greeted;
        log.info(
            "peer {} ({}) opened a control stream", greeted.managerName(), greeted.managerEpoch());
      }
      Hello hello = ControlCodec.encode(self);
      reply(request, ControlReply.newBuilder().setHello(hello));
    } catch (RuntimeException e) {
      TransportException refused = asRefusal(e, "Hello");
      log.debug("a peer's control stream was refused: {}", refused.getMessage());
      refuse(request.getCorrelation(), refused);
    }
  }

  private void answer(ControlRequest request) {
    ControlReply.Builder reply = ControlReply.newBuilder();
    try {
      switch (request.getBodyCase()) {
        case LOCATE -> locate(request.getLocate(), reply);
        case AUTHORIZE -> authorize(request.getAuthorize(), reply);
        case COMPLETE -> complete(request.getComplete(), reply);
        case ENDPOINT_CHANGED -> replaceEndpoint(request.getEndpointChanged(), reply);
        case HELLO -> throw WireValues.invalid("Hello was said before on this stream");
        case BODY_NOT_SET ->
            throw new TransportException(
                FaultCode.UNSUPPORTED,
                "this Manager does not know that request: run the same release on both");
      }
    } catch (RuntimeException e) {
      TransportException refused = asRefusal(e, request.getBodyCase().name());
      if (request.hasEndpointChanged()) {
        refuse(refused);
        return;
      }
      reply.setRefusal(ControlCodec.encode(refused, service.hello().managerEpoch()));
    }
    reply(request, reply);
  }

  private void locate(Locate locate, ControlReply.Builder reply) {
    List<BlockName> names = WireValues.names(locate.getNamesList(), ControlLimits.MAX_NAMES);
    reply.setLocated(ControlCodec.encode(service.locate(known(), names)));
  }

  private void authorize(Authorize authorize, ControlReply.Builder reply) {
    GrantRequest request = ControlCodec.request(authorize);
    requireOwn(request.ticket());
    GrantOffer offer = service.authorize(known(), request);
    try {
      reply.setOffer(ControlCodec.encode(offer, request));
    } catch (TransportException e) {
      // Nobody will ever hear of this grant.
      service.complete(
          known(),
          new Completion(offer.grant(), request.ticket(), "Failed", Evidence.NEVER_SUBMITTED));
      throw e;
    }
  }

  private void complete(Complete complete, ControlReply.Builder reply) {
    Completion completion = ControlCodec.completion(complete);
    requireOwn(completion.ticket());
    service.complete(known(), completion);
    reply.setAcknowledged(Acknowledged.getDefaultInstance());
  }

  private void replaceEndpoint(EndpointChanged changed, ControlReply.Builder reply) {
    PeerHello before = known();
    PeerHello after = ControlCodec.hello(changed.getHello(), service.hello());
    if (!after.managerEpoch().equals(before.managerEpoch())) {
      throw new TransportException(
          FaultCode.STALE_EPOCH,
          "this stream is of Manager %s, not of %s: open another"
              .formatted(before.managerEpoch(), after.managerEpoch()));
    }
    if (!after.transportEpoch().equals(before.transportEpoch())) {
      // As if it had come anew: grants to its old transport are retired.
      service.peerLost(before);
      service.accept(after);
      peer = after;
    }
    reply.setAcknowledged(Acknowledged.getDefaultInstance());
  }

  private void requireOwn(TicketId ticket) {
    if (!ticket.epoch().equals(known().managerEpoch())) {
      throw new TransportException(
          FaultCode.STALE_EPOCH,
          "ticket %d is of Manager %s, this stream of %s: ask under a ticket of its own"
              .formatted(ticket.id(), ticket.epoch(), known().managerEpoch()));
    }
  }

  private PeerHello known() {
    PeerHello known = peer;
    if (known == null) {
      throw WireValues.invalid("no Hello yet");
    }
    return known;
  }

  private static TransportException asRefusal(RuntimeException failure, String what) {
    if (failure instanceof TransportException refused) {
      return refused;
    }
    log.error("a defect: {} of a peer failed", what, failure);
    return new TransportException(
        FaultCode.INTERNAL, what + " failed by a defect of the owner; its log has the cause");
  }

  private void reply(ControlRequest request, ControlReply.Builder reply) {
    send(reply.setCorrelation(request.getCorrelation()).build());
  }

  private void send(ControlReply reply) {
    synchronized (sending) {
      if (!over && !replies.isCancelled()) {
        replies.onNext(reply);
      }
    }
  }

  private void refuse(long correlation, TransportException reason) {
    synchronized (sending) {
      if (!over && !replies.isCancelled()) {
        replies.onNext(
            ControlReply.newBuilder()
                .setCorrelation(correlation)
                .setRefusal(ControlCodec.encode(reason, service.hello().managerEpoch()))
                .build());
        replies.onCompleted();
      }
    }
    end("refused");
  }

  private void end(String reason) {
    synchronized (sending) {
      if (over) {
        return;
      }
      over = true;
    }
    PeerHello known = peer;
    if (known != null) {
      log.info("peer {} ({}) is gone: {}", known.managerName(), known.managerEpoch(), reason);
    }
    ended.accept(this);
  }
}
