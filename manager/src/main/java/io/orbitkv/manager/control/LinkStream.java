package io.orbitkv.manager.control;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.proto.ControlReply;
import io.orbitkv.manager.control.proto.ControlRequest;
import io.orbitkv.manager.control.proto.Offer;
import io.orbitkv.manager.control.proto.PeerControlGrpc;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requester's end of one stream, with its own connection, from the attempt to its end. Requests
 * may come from any thread; replies, timeouts and the end are told on the links' thread.
 */
final class LinkStream implements StreamObserver<ControlReply> {
  /** Who is told; on the links' thread. */
  interface Events {
    /** A reply that no request waits for: Hello's, and what the owner says by itself. */
    void heard(LinkStream stream, ControlReply reply);

    /** The stream has ended, once. */
    void ended(LinkStream stream, String reason);
  }

  private static final Logger log = LoggerFactory.getLogger(LinkStream.class);
  private static final long SWEEP_MILLIS = 50;

  private final String address;
  private final ManagedChannel channel;
  private final ControlLoop loop;
  private final long timeoutNanos;
  private final Events events;
  private final Object lock = new Object();
  // In the order of their deadlines, since all wait equally long.
  private final Map<Long, PendingCall<?>> pending = new LinkedHashMap<>();
  private final ClientCallStreamObserver<ControlRequest> requests;
  private final SendRoom room;
  private long pendingBytes;
  private long lastCorrelation;
  private boolean sweeping;
  private boolean over;

  /** Opens; what comes of it is told later. */
  LinkStream(
      String address, ManagedChannel channel, ControlLoop loop, long timeoutNanos, Events events) {
    this.address = address;
    this.channel = channel;
    this.loop = loop;
    this.timeoutNanos = timeoutNanos;
    this.events = events;
    this.requests =
        (ClientCallStreamObserver<ControlRequest>)
            PeerControlGrpc.newStub(channel)
                .withMaxInboundMessageSize(ControlLimits.MAX_MESSAGE_BYTES)
                .session(this);
    this.room = new SendRoom(requests::isReady);
  }

  /**
   * Sends a request whose answer comes as {@link Events#heard}, or that needs none. A stream that
   * has no room for it ends: the next one says it all anew.
   */
  void tell(ControlRequest.Builder builder) {
    synchronized (lock) {
      ControlRequest request = builder.setCorrelation(lastCorrelation + 1).build();
      if (over) {
        return;
      }
      if (!room.take(request.getSerializedSize())) {
        close("it does not read what it is sent");
        return;
      }
      lastCorrelation++;
      requests.onNext(request);
      sweepSoon();
    }
  }

  /**
   * Sends a request.
   *
   * @param what its name, for messages
   * @param ticket under which it asks for a grant, or null
   * @param reader takes the answer out of the reply
   * @return completed on the links' thread
   */
  <T> CompletableFuture<T> ask(
      String what,
      @Nullable TicketId ticket,
      ControlRequest.Builder builder,
      Function<ControlReply, T> reader) {
    synchronized (lock) {
      if (over) {
        return CompletableFuture.failedFuture(
            new TransportException(
                FaultCode.PEER_LOST, "the stream to peer " + address + " ended"));
      }
      ControlRequest request = builder.setCorrelation(lastCorrelation + 1).build();
      int bytes = request.getSerializedSize();
      if (bytes > ControlLimits.MAX_MESSAGE_BYTES) {
        return CompletableFuture.failedFuture(
            WireValues.invalid(
                "%s of %d bytes to peer %s; the limit is %d: ask for fewer names at once"
                    .formatted(what, bytes, address, ControlLimits.MAX_MESSAGE_BYTES)));
      }
      if (pending.size() >= ControlLimits.MAX_OUTSTANDING
          || pendingBytes + bytes > ControlLimits.MAX_OUTSTANDING_BYTES) {
        return CompletableFuture.failedFuture(
            new TransportException(
                FaultCode.EXHAUSTED,
                "%d requests of %d bytes wait for peer %s already; ask again when some are answered"
                    .formatted(pending.size(), pendingBytes, address)));
      }
      // Also what nobody waits for any more is still queued for a peer that does not read.
      if (!room.take(bytes)) {
        return CompletableFuture.failedFuture(
            new TransportException(
                FaultCode.EXHAUSTED,
                "peer %s has yet to read %d bytes of requests; ask again when it has"
                    .formatted(address, room.unsentBytes())));
      }
      PendingCall<T> call =
          new PendingCall<>(
              what,
              ticket,
              bytes,
              System.nanoTime() + timeoutNanos,
              new CompletableFuture<>(),
              reader);
      lastCorrelation++;
      pending.put(lastCorrelation, call);
      pendingBytes += bytes;
      requests.onNext(request);
      sweepSoon();
      return call.future();
    }
  }

  private void sweepSoon() {
    if (!sweeping) {
      sweeping = true;
      loop.runAfter(SWEEP_MILLIS, this::sweep);
    }
  }

  /** Ends the stream and its connection soon; what waits fails. */
  void close(String reason) {
    loop.runLater(() -> end(reason));
  }

  @Override
  public void onNext(ControlReply reply) {
    loop.run(() -> take(reply));
  }

  @Override
  public void onError(Throwable cause) {
    Status status = Status.fromThrowable(cause);
    String text = status.getDescription();
    Throwable below = status.getCause();
    String why = below == null || below.getMessage() == null ? "" : ": " + below.getMessage();
    close(WireValues.printable((text == null ? status.getCode().name() : text) + why));
  }

  @Override
  public void onCompleted() {
    close("the peer ended the stream");
  }

  private void take(ControlReply reply) {
    PendingCall<?> call;
    synchronized (lock) {
      if (over) {
        return;
      }
      room.heard();
      call = pending.remove(reply.getCorrelation());
      if (call != null) {
        pendingBytes -= call.bytes();
      }
    }
    boolean taken = call != null && call.answer(reply);
    if (!taken && reply.hasOffer()) {
      giveBack(reply.getOffer());
    } else if (call == null) {
      events.heard(this, reply);
    }
  }

  /** Nobody waits for this grant any more, unless it was asked for again: the same is coming. */
  private void giveBack(Offer offer) {
    try {
      TicketId ticket = WireValues.ticket(offer.getTicket());
      Completion unused =
          new Completion(
              WireValues.grant(offer.getGrant()), ticket, "Cancelled", Evidence.NEVER_SUBMITTED);
      // Under the lock, so that a repeated request is sent either before this is decided or after.
      synchronized (lock) {
        if (pending.values().stream().noneMatch(call -> ticket.equals(call.ticket()))) {
          tell(ControlRequest.newBuilder().setComplete(ControlCodec.encode(unused)));
          log.debug("peer {}: the late grant of ticket {} was given back", address, ticket.id());
        }
      }
    } catch (TransportException e) {
      log.warn("peer {}: a late grant can not be given back: {}", address, e.getMessage());
    }
  }

  private void sweep() {
    List<PendingCall<?>> late = new ArrayList<>();
    synchronized (lock) {
      long now = System.nanoTime();
      Iterator<PendingCall<?>> oldest = pending.values().iterator();
      while (oldest.hasNext()) {
        PendingCall<?> call = oldest.next();
        if (call.deadlineNanos() - now > 0) {
          break;
        }
        oldest.remove();
        pendingBytes -= call.bytes();
        late.add(call);
      }
      sweeping = false;
      if (!over && room.stalled()) {
        close("it read nothing for " + ControlLimits.STALL_MILLIS + " ms");
      } else if (!over && !(pending.isEmpty() && room.isFree())) {
        sweepSoon();
      }
    }
    for (PendingCall<?> call : late) {
      call.fail(
          new TransportException(
              FaultCode.PEER_LOST,
              "peer %s did not answer %s within %d ms; ask again"
                  .formatted(address, call.what(), timeoutNanos / 1_000_000)));
    }
  }

  private void end(String reason) {
    List<PendingCall<?>> lost;
    synchronized (lock) {
      if (over) {
        return;
      }
      over = true;
      lost = new ArrayList<>(pending.values());
      pending.clear();
      pendingBytes = 0;
    }
    for (PendingCall<?> call : lost) {
      call.fail(
          new TransportException(
              FaultCode.PEER_LOST,
              "peer %s was lost before it answered %s: %s"
                  .formatted(address, call.what(), reason)));
    }
    events.ended(this, reason);
    channel.shutdownNow();
  }
}
