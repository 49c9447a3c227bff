package io.orbitkv.systemtests.rig;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.manager.control.proto.Authorize;
import io.orbitkv.manager.control.proto.Complete;
import io.orbitkv.manager.control.proto.ControlReply;
import io.orbitkv.manager.control.proto.ControlRequest;
import io.orbitkv.manager.control.proto.Hello;
import io.orbitkv.manager.control.proto.NameRun;
import io.orbitkv.manager.control.proto.Offer;
import io.orbitkv.manager.control.proto.PeerControlGrpc;
import io.orbitkv.manager.control.proto.Ticket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The requester's end of a control stream, without a Manager: asks for grants by its own name. */
public final class RawControl implements AutoCloseable {
  private final ManagedChannel channel;
  private final BlockingQueue<ControlReply> replies = new LinkedBlockingQueue<>();
  private final StreamObserver<ControlRequest> requests;
  private final ByteString managerEpoch = bytes(Epoch.random());
  private final Epoch transportEpoch = Epoch.random();
  private final Epoch owner;
  private long correlation;
  private long ticket;

  private RawControl(ManagerProcess owner) {
    channel = NettyChannelBuilder.forTarget(owner.control()).usePlaintext().build();
    requests = PeerControlGrpc.newStub(channel).session(new Replies());
    Hello hello =
        Hello.newBuilder()
            .setControlVersion(StrangePeer.CONTROL_VERSION)
            .setManagerEpoch(managerEpoch)
            .setManagerName("raw")
            .setProvider("orbitte-tcp")
            .setTransportEpoch(bytes(transportEpoch))
            .setEndpoint("orbitte+tcp://127.0.0.1:9")
            .build();
    ControlReply greeted = ask(ControlRequest.newBuilder().setHello(hello));
    if (!greeted.hasHello()) {
      throw new AssertionError("the owner did not say Hello: " + greeted);
    }
    this.owner = Epoch.read(greeted.getHello().getTransportEpoch().asReadOnlyByteBuffer());
  }

  /** Says Hello to a Manager. */
  public static RawControl connect(ManagerProcess owner) {
    return new RawControl(owner);
  }

  /** The transport epoch that its grants are for. */
  public Epoch transportEpoch() {
    return transportEpoch;
  }

  /** The owner's transport epoch. */
  public Epoch owner() {
    return owner;
  }

  /** Asks for a grant of all these pages. */
  public Offer authorize(List<Page> pages) {
    NameRun.Builder names = NameRun.newBuilder();
    for (Page page : pages) {
      BlockName name = page.name();
      names.setNamespace(name.namespace()).addHashes(ByteString.copyFrom(name.hash()));
    }
    Authorize authorize =
        Authorize.newBuilder()
            .setTicket(Ticket.newBuilder().setId(++ticket).setManagerEpoch(managerEpoch))
            .setRequesterTransport(bytes(transportEpoch))
            .setOwnerTransport(bytes(owner))
            .addNames(names)
            .build();
    ControlReply reply = ask(ControlRequest.newBuilder().setAuthorize(authorize));
    if (!reply.hasOffer()) {
      throw new AssertionError("no grant: " + reply);
    }
    return reply.getOffer();
  }

  /** Says that a grant is used no more. */
  public void complete(Offer offer) {
    Complete complete =
        Complete.newBuilder()
            .setGrant(offer.getGrant())
            .setTicket(offer.getTicket())
            .setOutcome("Completed")
            .setEvidence(3)
            .build();
    ControlReply reply = ask(ControlRequest.newBuilder().setComplete(complete));
    if (!reply.hasAcknowledged()) {
      throw new AssertionError("not acknowledged: " + reply);
    }
  }

  /** Waits until the owner says by itself that this grant is revoked. */
  public void awaitRevoked(Offer offer) {
    Await.until(
        "the owner revokes " + offer.getGrant(),
        Duration.ofSeconds(10),
        () ->
            replies.stream()
                .anyMatch(
                    reply ->
                        reply.hasRevoked()
                            && reply.getRevoked().getGrant().equals(offer.getGrant())));
  }

  /** Ends the stream and its connection without a word. */
  public void hangUp() {
    channel.shutdownNow();
  }

  @Override
  public void close() {
    hangUp();
  }

  private ControlReply ask(ControlRequest.Builder request) {
    long asked = ++correlation;
    requests.onNext(request.setCorrelation(asked).build());
    try {
      while (true) {
        ControlReply reply = replies.poll(10, TimeUnit.SECONDS);
        if (reply == null) {
          throw new AssertionError("no answer in 10 s to " + request);
        }
        if (reply.getCorrelation() == asked || reply.hasRefusal()) {
          return reply;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  private static ByteString bytes(Epoch epoch) {
    ByteBuffer bytes = ByteBuffer.allocate(Epoch.BYTES);
    epoch.write(bytes);
    return ByteString.copyFrom(bytes.flip());
  }

  private final class Replies implements StreamObserver<ControlReply> {
    @Override
    public void onNext(ControlReply reply) {
      replies.add(reply);
    }

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {}
  }
}
