package io.orbitkv.tck.template;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Ticket;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One read; the worker sets its outcome when it has left the destination. */
final class TemplateTicket implements Ticket, Runnable {
  private final TemplatePeer peer;
  private final TemplateGrant wire;
  private final Batch batch;
  private final TicketId id;
  private final List<TemplateRegistration> used;
  private final AdmissionBudget.Place place;
  private final CountDownLatch settled = new CountDownLatch(1);
  private volatile boolean cancelled;
  private boolean proven;
  private @Nullable Outcome outcome;
  private @Nullable Consumer<Outcome> callback;

  TemplateTicket(
      TemplatePeer peer,
      TemplateGrant wire,
      Batch batch,
      TicketId id,
      List<TemplateRegistration> used,
      AdmissionBudget.Place place) {
    this.peer = peer;
    this.wire = wire;
    this.batch = batch;
    this.id = id;
    this.used = used;
    this.place = place;
  }

  @Override
  public void run() {
    Outcome ending = end();
    Consumer<Outcome> told;
    synchronized (this) {
      outcome = ending;
      told = callback;
    }
    settled.countDown();
    if (told != null) {
      told.accept(ending);
    }
  }

  /** A ticket without an outcome would never be drained: what is thrown is an outcome too. */
  private Outcome end() {
    try {
      return move();
    } catch (RuntimeException | Error e) {
      return new Outcome.Failed(FaultCode.INTERNAL, id + " could not be read: " + e);
    }
  }

  /**
   * Your wire goes here. When it returns or throws, nothing of it is inside source or destination:
   * the receipt says so.
   */
  private Outcome move() {
    TemplateTransport owner = TemplateTransport.OPEN.get(peer.endpoint);
    if (owner == null) {
      return new Outcome.Failed(FaultCode.PEER_LOST, "nobody is at " + peer.endpoint);
    }
    if (!owner.epoch().equals(peer.epoch())) {
      return new Outcome.Failed(FaultCode.STALE_EPOCH, peer.endpoint + " was opened again");
    }
    TemplateHold hold = owner.holds.get(wire.grant());
    FaultCode refusal =
        hold == null ? FaultCode.GRANT_ENDED : hold.enter(wire, peer.transport.epoch());
    if (hold == null || refusal != null) {
      return new Outcome.Failed(
          refusal == null ? FaultCode.GRANT_ENDED : refusal, wire.grant() + " does not admit it");
    }
    try {
      for (int i = 0; i < batch.size(); i++) {
        if (cancelled || peer.closed()) {
          return Outcome.CANCELLED;
        }
        MemorySegment from = hold.range(batch.remote(i).range());
        if (batch.remote(i).end() > from.byteSize()) {
          return new Outcome.Failed(FaultCode.DENIED, batch.remote(i) + " was not granted");
        }
        copy(from, batch.remote(i), used.get(i).region().memory(), batch.local(i));
      }
      return Outcome.COMPLETED;
    } finally {
      hold.leave();
    }
  }

  private static void copy(
      MemorySegment from, RemoteDescriptor remote, MemorySegment to, Descriptor local) {
    for (long moved = 0; moved < local.bytes(); ) {
      long source = moved % remote.length();
      long target = moved % local.length();
      long step = Math.min(remote.length() - source, local.length() - target);
      source += remote.offset() + moved / remote.length() * remote.stride();
      target += local.offset() + moved / local.length() * local.stride();
      MemorySegment.copy(from, source, to, target, step);
      moved += step;
    }
  }

  @Override
  public TicketId id() {
    return id;
  }

  @Override
  public synchronized Optional<Outcome> outcome() {
    return Optional.ofNullable(outcome);
  }

  @Override
  public Optional<Outcome> await(long nanos) throws InterruptedException {
    var _ = settled.await(nanos, TimeUnit.NANOSECONDS);
    return outcome();
  }

  @Override
  public void onSettled(Consumer<Outcome> told) {
    Outcome set;
    synchronized (this) {
      if (callback != null) {
        throw new IllegalStateException(id + " has a callback already");
      }
      callback = told;
      set = outcome;
    }
    if (set != null) {
      told.accept(set);
    }
  }

  @Override
  public void cancel() {
    cancelled = true;
  }

  @Override
  public synchronized Optional<DrainReceipt> drain() {
    if (outcome == null || proven) {
      return Optional.empty();
    }
    proven = true;
    DrainReceipt receipt = peer.transport.context.receipts().issue(id, Evidence.LOCAL_QUIESCED);
    used.forEach(TemplateRegistration::release);
    place.close();
    peer.transport.end();
    return Optional.of(receipt);
  }
}
