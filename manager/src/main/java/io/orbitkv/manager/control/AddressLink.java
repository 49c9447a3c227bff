package io.orbitkv.manager.control;

import com.google.protobuf.ByteString;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.proto.Acknowledged;
import io.orbitkv.manager.control.proto.ControlReply;
import io.orbitkv.manager.control.proto.ControlRequest;
import io.orbitkv.manager.control.proto.EndpointChanged;
import io.orbitkv.manager.control.proto.Refusal;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The link to one address: one stream after another, for ever, until it is closed. Its state is
 * written by the links' thread only.
 */
final class AddressLink implements PeerLink, LinkStream.Events {
  private static final Logger log = LoggerFactory.getLogger(AddressLink.class);

  /** A stream of that age proves that the peer is well: the next attempt is an early one again. */
  private static final long PROVEN_NANOS = 2_000_000_000L;

  private static final long REFUSED_MILLIS = 10_000;
  private static final long DUPLICATE_MILLIS = 2_000;

  /** A stream whose Hello was accepted, and what that said. */
  private record Live(LinkStream stream, PeerHello hello) {}

  /** What was logged last, so that an attempt that fails like the one before is silent. */
  private record Complaint(ByteString incarnation, String message) {}

  private final String address;
  private final PeerLinks links;
  private final Backoff backoff = new Backoff();
  private volatile @Nullable Live live;
  private @Nullable LinkStream current;
  private long upSinceNanos;
  private long retryMillis;
  private int attempts;
  private boolean closed;
  private @Nullable Complaint lastComplaint;

  AddressLink(String address, PeerLinks links) {
    this.address = address;
    this.links = links;
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public Optional<PeerHello> hello() {
    Live now = live;
    return now == null ? Optional.empty() : Optional.of(now.hello());
  }

  @Override
  public CompletableFuture<long[]> locate(List<BlockName> names) {
    DistinctNames asked = DistinctNames.of(names);
    return ask(
        stream ->
            stream.ask(
                "Locate",
                null,
                ControlRequest.newBuilder().setLocate(ControlCodec.locate(asked.names())),
                reply -> asked.spread(ControlCodec.located(reply.getLocated(), asked.names()))));
  }

  @Override
  public CompletableFuture<GrantOffer> authorize(GrantRequest request) {
    return ask(
        stream ->
            stream.ask(
                "Authorize",
                request.ticket(),
                ControlRequest.newBuilder().setAuthorize(ControlCodec.encode(request)),
                reply -> ControlCodec.offer(reply.getOffer(), request)));
  }

  @Override
  public CompletableFuture<Void> complete(Completion completion) {
    CompletableFuture<Acknowledged> acknowledged =
        ask(
            stream ->
                stream.ask(
                    "Complete",
                    null,
                    ControlRequest.newBuilder().setComplete(ControlCodec.encode(completion)),
                    ControlReply::getAcknowledged));
    // A dependent stage would wrap the exception.
    CompletableFuture<Void> done = new CompletableFuture<>();
    var _ =
        acknowledged.whenComplete(
            (value, failure) -> {
              if (failure == null) {
                done.complete(null);
              } else {
                done.completeExceptionally(failure);
              }
            });
    return done;
  }

  /** Tells the owner that this Manager's transport was replaced. */
  void announceEndpoint(PeerHello self) {
    Live now = live;
    if (now != null) {
      EndpointChanged changed =
          EndpointChanged.newBuilder().setHello(ControlCodec.encode(self)).build();
      now.stream().tell(ControlRequest.newBuilder().setEndpointChanged(changed));
    }
  }

  /** Connects, unless it is connected or being connected. */
  void connect() {
    if (closed || current != null) {
      return;
    }
    attempts++;
    retryMillis = 0;
    try {
      ControlRequest.Builder hello =
          ControlRequest.newBuilder().setHello(ControlCodec.encode(links.self().hello()));
      LinkStream opened = links.open(address, this);
      current = opened;
      opened.tell(hello);
      links.loop().runAfter(ControlLimits.HELLO_MILLIS, () -> expectHello(opened));
    } catch (RuntimeException e) {
      complain(
          ByteString.EMPTY,
          "no stream to peer {} can be opened: {}",
          String.valueOf(e.getMessage()));
      retryLater();
    }
  }

  /** Ends the link for good. */
  void close(String reason) {
    closed = true;
    if (current != null) {
      current.close(reason);
    }
  }

  @Override
  public void heard(LinkStream stream, ControlReply reply) {
    if (stream != current) {
      return;
    }
    try {
      switch (reply.getBodyCase()) {
        case HELLO -> greeted(stream, ControlCodec.hello(reply.getHello(), links.self().hello()));
        case REFUSAL -> refused(stream, reply);
        case REVOKED -> revoked(WireValues.grant(reply.getRevoked().getGrant()));
        case ENDPOINT_CHANGED ->
            replaced(
                stream,
                ControlCodec.hello(reply.getEndpointChanged().getHello(), links.self().hello()));
        // Late answers, and what a newer peer says.
        case LOCATED, OFFER, ACKNOWLEDGED, BODY_NOT_SET -> {}
      }
    } catch (TransportException e) {
      mismatch(stream, String.valueOf(e.getMessage()), reply.getHello().getManagerEpoch());
    }
  }

  @Override
  public void ended(LinkStream stream, String reason) {
    if (stream != current) {
      return;
    }
    current = null;
    Live was = live;
    if (was != null) {
      live = null;
      links.release(was.hello().managerEpoch(), this);
      if (System.nanoTime() - upSinceNanos > PROVEN_NANOS) {
        backoff.reset();
      }
      log.info("peer {} ({}) is down: {}", address, was.hello().managerEpoch(), reason);
      links.tell(listener -> listener.peerDown(this, was.hello(), reason));
    } else if (retryMillis == 0 && !closed) {
      complain(ByteString.EMPTY, "peer {} is not reached: {}; trying on", reason);
    }
    retryLater();
  }

  private void greeted(LinkStream stream, PeerHello hello) {
    if (live != null) {
      throw WireValues.invalid("peer " + address + " said Hello twice");
    }
    Epoch own = links.self().hello().managerEpoch();
    if (hello.managerEpoch().equals(own)) {
      log.debug("peer {} is this Manager itself", address);
      retryMillis = REFUSED_MILLIS;
      stream.close("it is this Manager itself");
      return;
    }
    links.self().accept(hello);
    if (!links.claim(hello.managerEpoch(), this)) {
      log.debug("peer {} has a stream by another address already", address);
      retryMillis = DUPLICATE_MILLIS;
      stream.close("it has a stream by another address");
      return;
    }
    up(stream, hello);
  }

  private void up(LinkStream stream, PeerHello hello) {
    live = new Live(stream, hello);
    upSinceNanos = System.nanoTime();
    lastComplaint = null;
    log.info("peer {} ({}, {}) is up", address, hello.managerName(), hello.managerEpoch());
    links.tell(listener -> listener.peerUp(this, hello));
    PathWarming.start(this);
  }

  private void replaced(LinkStream stream, PeerHello after) {
    Live was = live;
    if (was == null || !was.hello().managerEpoch().equals(after.managerEpoch())) {
      throw WireValues.invalid("peer " + address + " announced the endpoint of another Manager");
    }
    if (was.hello().transportEpoch().equals(after.transportEpoch())) {
      return;
    }
    links.self().accept(after);
    links.tell(listener -> listener.peerDown(this, was.hello(), "its transport was replaced"));
    up(stream, after);
  }

  private void revoked(GrantId grant) {
    if (live != null) {
      links.tell(listener -> listener.grantRevoked(this, grant));
    }
  }

  private void refused(LinkStream stream, ControlReply reply) {
    Refusal refusal = reply.getRefusal();
    TransportException reason = ControlCodec.refusal(refusal);
    if (live != null && reply.getCorrelation() != 0) {
      // Of a request that waits no more.
      log.debug("peer {} refused: {}", address, reason.getMessage());
    } else if (reason.code().retry() == FaultCode.Retry.SAME_CALL
        || reason.code() == FaultCode.CLOSING) {
      stream.close(String.valueOf(reason.getMessage()));
    } else {
      mismatch(stream, String.valueOf(reason.getMessage()), refusal.getManagerEpoch());
    }
  }

  private void mismatch(LinkStream stream, String message, ByteString incarnation) {
    retryMillis = REFUSED_MILLIS;
    // Once for each incarnation of the peer.
    complain(incarnation, "peer {} is not used: {}", message);
    stream.close(message);
  }

  private void expectHello(LinkStream stream) {
    if (stream == current && live == null) {
      stream.close("no Hello within " + ControlLimits.HELLO_MILLIS + " ms");
    }
  }

  private void retryLater() {
    if (!closed) {
      int attempt = attempts;
      long millis = retryMillis > 0 ? retryMillis : backoff.next();
      links
          .loop()
          .runAfter(
              millis,
              () -> {
                // Not if a change of the membership was faster.
                if (attempt == attempts) {
                  connect();
                }
              });
    }
  }

  private void complain(ByteString incarnation, String format, String message) {
    Complaint complaint = new Complaint(incarnation, message);
    if (!complaint.equals(lastComplaint)) {
      lastComplaint = complaint;
      log.warn(format, address, message);
    }
  }

  private interface Question<T> {
    CompletableFuture<T> put(LinkStream stream);
  }

  private <T> CompletableFuture<T> ask(Question<T> question) {
    Live now = live;
    if (now == null) {
      return CompletableFuture.failedFuture(
          new TransportException(
              FaultCode.PEER_LOST, "no stream to peer " + address + "; ask again when it is up"));
    }
    try {
      return question.put(now.stream());
    } catch (TransportException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
