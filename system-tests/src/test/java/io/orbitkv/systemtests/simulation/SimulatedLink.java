package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.Completion;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.control.GrantRequest;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.control.PeerLink;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The requester's side of the control streams to one host. Requests may be repeated under their
 * ticket; an offer that nobody waits for is given back, as the real link does.
 */
final class SimulatedLink implements PeerLink {
  private record Call(GrantRequest request, CompletableFuture<GrantOffer> future) {}

  private static final int REPEAT_ODDS = 3;

  private final SimulatedManager manager;
  private final World world;
  private final Host to;
  private final Map<Long, Call> calls = new LinkedHashMap<>();
  private final Set<TicketId> taken = new HashSet<>();
  private @Nullable Stream stream;
  private long lastCorrelation;
  private int lastStream;

  SimulatedLink(SimulatedManager manager, World world, Host to) {
    this.manager = manager;
    this.world = world;
    this.to = to;
  }

  Host to() {
    return to;
  }

  boolean isUp() {
    return stream != null;
  }

  /** A stream opens, if the other side is there. */
  void up() {
    SimulatedManager owner = to.manager();
    if (stream != null || owner == null || owner.closing()) {
      return;
    }
    stream = new Stream(++lastStream, manager, owner, manager.hello(), owner.hello());
    manager.peers().peerUp(this, stream.owner());
  }

  /** The stream ends: both ends hear of it, each in its time. */
  void down(String reason) {
    Stream was = stream;
    if (was == null) {
      return;
    }
    stream = null;
    lastCorrelation = 0;
    manager.peers().peerDown(this, was.owner(), reason);
    List<Call> lost = List.copyOf(calls.values());
    calls.clear();
    lost.forEach(call -> fail(call, reason));
    tellOwner(was);
  }

  /** The owner hears that the stream ended. */
  void tellOwner(Stream was) {
    SimulatedManager owner = was.to();
    if (!owner.alive()) {
      return;
    }
    world.post(
        Pending.at(
            owner,
            "the end of " + was,
            () -> {
              boolean another = stream != null && stream.to() == owner && manager.alive();
              if (!another) {
                owner.peerLost(was.requester());
              }
            }));
  }

  /** This Manager died: the owner hears of it. */
  void died() {
    if (stream != null) {
      tellOwner(stream);
    }
  }

  private static void fail(Call call, String reason) {
    call.future().completeExceptionally(new TransportException(FaultCode.PEER_LOST, reason));
  }

  @Override
  public String address() {
    return to.address();
  }

  @Override
  public Optional<PeerHello> hello() {
    return Optional.ofNullable(stream).map(Stream::owner);
  }

  @Override
  public CompletableFuture<long[]> locate(List<BlockName> names) {
    throw new UnsupportedOperationException("reads are planned without asking");
  }

  @Override
  public CompletableFuture<GrantOffer> authorize(GrantRequest request) {
    if (stream == null) {
      return CompletableFuture.failedFuture(
          new TransportException(FaultCode.PEER_LOST, "no stream to " + to));
    }
    Call call = new Call(request, new CompletableFuture<>());
    long correlation = ask(call);
    world.after(
        Limits.CALL_TIMEOUT,
        () -> !call.future().isDone(),
        Pending.at(
            manager,
            "the answer for ticket " + request.ticket().id() + " is waited for no more",
            () -> {
              if (calls.remove(correlation, call)) {
                calls.values().remove(call);
                fail(call, "no answer in time");
              }
            }));
    if (world.chance().oneIn(REPEAT_ODDS)) {
      world.after(
          world.chance().between(0, Limits.CALL_TIMEOUT),
          () -> !call.future().isDone(),
          Pending.at(
              manager, "asks again under ticket " + request.ticket().id(), () -> again(call)));
    }
    return call.future();
  }

  private void again(Call call) {
    if (!call.future().isDone() && stream != null) {
      ask(call);
    }
  }

  private long ask(Call call) {
    Stream on = current();
    long correlation = ++lastCorrelation;
    calls.put(correlation, call);
    world.send(
        to,
        "authorize " + call.request().ticket().id() + " on " + on,
        there -> there.authorize(on, correlation, call.request()),
        () -> {});
    return correlation;
  }

  private Stream current() {
    if (stream == null) {
      throw new IllegalStateException("no stream to " + to);
    }
    return stream;
  }

  /** An answer came: an offer, or the reason of a refusal. */
  void answered(
      Stream on,
      long correlation,
      TicketId ticket,
      @Nullable GrantOffer offer,
      @Nullable TransportException refusal) {
    boolean mine = on.equals(stream) || world.is(Mutant.REPLY_OF_ANY_STREAM);
    Call call = mine ? calls.remove(correlation) : null;
    if (call == null || call.future().isDone()) {
      if (offer != null) {
        giveBack(ticket, offer);
      }
    } else if (offer != null) {
      world.oracle().answered(call.request().ticket(), ticket);
      taken.add(ticket);
      calls.values().remove(call);
      call.future().complete(offer);
    } else if (refusal != null) {
      call.future().completeExceptionally(refusal);
    }
  }

  private void giveBack(TicketId ticket, GrantOffer offer) {
    boolean wanted =
        calls.values().stream().anyMatch(call -> call.request().ticket().equals(ticket));
    boolean foreign = !ticket.epoch().equals(manager.epoch());
    if (stream != null && !wanted && !foreign && !taken.contains(ticket)) {
      var _ =
          complete(new Completion(offer.grant(), ticket, "Cancelled", Evidence.NEVER_SUBMITTED));
    }
  }

  @Override
  public CompletableFuture<Void> complete(Completion completion) {
    Stream on = stream;
    if (on == null) {
      return CompletableFuture.failedFuture(
          new TransportException(FaultCode.PEER_LOST, "no stream to " + to));
    }
    world.send(
        to,
        "complete grant " + completion.grant().id() + " on " + on,
        there -> there.complete(on, completion),
        () -> {});
    return CompletableFuture.completedFuture(null);
  }
}
