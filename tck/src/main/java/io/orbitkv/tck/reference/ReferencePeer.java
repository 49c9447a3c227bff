package io.orbitkv.tck.reference;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** One remote incarnation at the requester. */
final class ReferencePeer implements Peer {
  private static final long ENTRY_BYTES = 128;

  private final ReferenceTransport transport;
  private final URI endpoint;
  private final Epoch owner;
  private final Set<ReferenceTicket> running = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /** What one grant lets this requester read. */
  private record Imported(ReferencePeer peer, ReferenceForm form) implements RemoteRegion {
    @Override
    public GrantId grant() {
      return form.grant();
    }

    @Override
    public int ranges() {
      return form.lengths().size();
    }

    @Override
    public long length(int range) {
      return form.lengths().get(range);
    }
  }

  ReferencePeer(ReferenceTransport transport, URI endpoint, Epoch owner) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.owner = owner;
  }

  @Override
  public Epoch epoch() {
    return owner;
  }

  ReferenceTransport transport() {
    return transport;
  }

  URI endpoint() {
    return endpoint;
  }

  @Override
  public RemoteRegion importRegion(byte[] wireForm) {
    ReferenceForm form = ReferenceForm.read(wireForm);
    if (!form.grant().epoch().equals(owner) && !transport.has(Defect.EPOCH_IGNORED)) {
      throw new TransportException(
          FaultCode.STALE_EPOCH, form.grant() + " is not of " + owner + "; ask for a new grant");
    }
    return new Imported(this, form);
  }

  @Override
  public Ticket read(Batch batch, TicketId id, TicketOptions options) {
    if (!(batch.source() instanceof Imported source) || source.peer() != this) {
      throw new TransportException(FaultCode.INVALID, batch + " was not imported at this peer");
    }
    if (closed) {
      throw new TransportException(FaultCode.CLOSING, endpoint + " was closed; connect again");
    }
    if (transport.has(Defect.BUDGET_AFTER_SIDE_EFFECTS)) {
      ReferenceTicket early = new ReferenceTicket(transport, id, () -> {});
      ReferenceCopy copy =
          new ReferenceCopy(this, source.form(), batch, regions(batch), early, options);
      transport.copies().execute(() -> early.leave(copy.run()));
    }
    if (transport.has(Defect.THROWS_AND_RUNS)) {
      return runThenCheck(batch, id, options, source.form());
    }
    transport.began("read " + batch);
    Map<RegionId, ReferenceRegistration> used = new HashMap<>();
    AdmissionBudget.Place place = null;
    ReferenceTicket ticket = null;
    try {
      checkLimits(batch);
      place = transport.context().budget().take(ENTRY_BYTES * batch.size());
      useRegions(batch, used);
      ticket = submit(batch, id, options, source.form(), used, place);
      return ticket;
    } finally {
      if (ticket == null) {
        used.values().forEach(ReferenceRegistration::release);
        if (place != null) {
          place.close();
        }
        transport.ended();
      }
    }
  }

  private ReferenceTicket submit(
      Batch batch,
      TicketId id,
      TicketOptions options,
      ReferenceForm form,
      Map<RegionId, ReferenceRegistration> used,
      AdmissionBudget.Place place) {
    ReferenceTicket ticket =
        new ReferenceTicket(
            transport,
            id,
            () -> {
              used.values().forEach(ReferenceRegistration::release);
              if (!transport.has(Defect.BUDGET_NOT_GIVEN_BACK)) {
                place.close();
              }
              transport.ended();
            });
    Map<RegionId, Region> regions = new HashMap<>();
    used.forEach((name, registration) -> regions.put(name, registration.region()));
    ReferenceCopy copy = new ReferenceCopy(this, form, batch, regions, ticket, options);
    running.add(ticket);
    transport
        .copies()
        .execute(
            () -> {
              Outcome result = copy.run();
              running.remove(ticket);
              ticket.leave(result);
            });
    return ticket;
  }

  private ReferenceTicket runThenCheck(
      Batch batch, TicketId id, TicketOptions options, ReferenceForm form) {
    Map<RegionId, ReferenceRegistration> used = new HashMap<>();
    useRegions(batch, used);
    AdmissionBudget.Place place = transport.context().budget().take(ENTRY_BYTES * batch.size());
    ReferenceTicket ticket = submit(batch, id, options, form, used, place);
    transport.began("read " + batch);
    return ticket;
  }

  private Map<RegionId, Region> regions(Batch batch) {
    Map<RegionId, ReferenceRegistration> used = new HashMap<>();
    useRegions(batch, used);
    Map<RegionId, Region> regions = new HashMap<>();
    used.forEach(
        (name, registration) -> {
          regions.put(name, registration.region());
          registration.release();
        });
    return regions;
  }

  private void useRegions(Batch batch, Map<RegionId, ReferenceRegistration> used) {
    for (int i = 0; i < batch.size(); i++) {
      Descriptor local = batch.local(i);
      Region region = used.computeIfAbsent(local.region(), transport::use).region();
      if (!region.permission().writable()) {
        throw new TransportException(FaultCode.DENIED, region.id() + " is not writable");
      }
      if (local.end() > region.length() && !transport.has(Defect.BOUNDS_NOT_CHECKED)) {
        throw new TransportException(FaultCode.INVALID, local + " leaves its region");
      }
    }
  }

  private void checkLimits(Batch batch) {
    Capabilities limits = transport.capabilities();
    long pieces = 0;
    for (int i = 0; i < batch.size(); i++) {
      pieces += Math.max(batch.local(i).count(), batch.remote(i).count());
    }
    boolean within = batch.bytes() <= limits.maxReadBytes() && pieces <= limits.maxDescriptors();
    if (!within && !transport.has(Defect.LIMITS_NOT_CHECKED)) {
      throw new TransportException(
          FaultCode.INVALID,
          batch + " exceeds " + limits + " with " + pieces + " pieces; split it");
    }
  }

  @Override
  public void close() {
    closed = true;
    List.copyOf(running)
        .forEach(
            ticket -> ticket.end(new Outcome.Failed(FaultCode.CLOSING, endpoint + " was closed")));
  }
}
