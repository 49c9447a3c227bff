package io.orbitkv.api.provider;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.api.spi.Transport.Admission;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The open work of a requester and of an owner, and memory of both. */
final class TwoEnds {
  static final int BYTES = 4_096;

  private static final AtomicLong NAMES = new AtomicLong();

  final LentContext requesterContext;
  final LentContext ownerContext = LentContext.of(8);
  final OpenWork requester;
  final OpenWork owner = new OpenWork("owner", ownerContext, LentContext.CAPABILITIES);
  final Peer peer = new OwnerAsPeer(ownerContext.receipts().epoch());

  TwoEnds() {
    this(8);
  }

  /** The requester's budget has so many places. */
  TwoEnds(int places) {
    requesterContext = LentContext.of(places);
    requester = new OpenWork("requester", requesterContext, LentContext.CAPABILITIES);
  }

  static Region region(Permission permission) {
    return region(permission, Arena.ofAuto());
  }

  static Region region(Permission permission, Arena arena) {
    return new Region(
        new RegionId(NAMES.incrementAndGet(), 1),
        -1,
        0,
        arena.allocate(BYTES),
        MemoryKind.HOST,
        permission,
        Region.Backing.BORROWED);
  }

  GatedHold admit(Region source, Runnable stuck) {
    GrantId grant = new GrantId(NAMES.incrementAndGet(), 1, ownerContext.receipts().epoch());
    ownerContext.receipts().open(grant);
    List<Descriptor> ranges = List.of(Descriptor.of(source.id(), 0, BYTES));
    Admission admission = new Admission(grant, requesterContext.receipts().epoch(), ranges);
    return owner.admit(admission, Evidence.LOCAL_QUIESCED, stuck);
  }

  /** All of a new source, admitted and imported. */
  ImportedGrant source() {
    Region source = region(Permission.READ);
    var _ = owner.register(source);
    return ImportedGrant.read(admit(source, () -> {}).wireForm(), peer);
  }

  GatedHold enter(ImportedGrant grant) {
    return owner.enter(grant.grant(), grant.secret(), requesterContext.receipts().epoch());
  }

  TicketId ticketId() {
    TicketId id = new TicketId(NAMES.incrementAndGet(), requesterContext.receipts().epoch());
    requesterContext.receipts().open(id);
    return id;
  }

  GatedTicket submit(Batch batch, Runnable stuck) {
    return requester.submit(batch, ticketId(), Evidence.LOCAL_QUIESCED, stuck);
  }

  static Batch batch(RemoteRegion source, RegionId destination, long offset, long bytes) {
    return Batch.from(source)
        .add(Descriptor.of(destination, offset, bytes), RemoteDescriptor.of(0, 0, bytes))
        .build();
  }

  static FaultCode codeOf(Runnable call) {
    try {
      call.run();
    } catch (TransportException e) {
      return e.code();
    }
    throw new AssertionError("it was not refused");
  }

  /** Names the owner's incarnation; nothing can be read through it. */
  private record OwnerAsPeer(Epoch epoch) implements Peer {
    @Override
    public RemoteRegion importRegion(byte[] wireForm) {
      return ImportedGrant.read(wireForm, this);
    }

    @Override
    public Ticket read(Batch batch, TicketId ticket, TicketOptions options) {
      throw new UnsupportedOperationException("no wire");
    }

    @Override
    public void close() {}
  }
}
