package io.orbitkv.provider.tcp;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.stress.StressContext;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** One transport of a JVM with one region of slots, a slot for each state that is alive. */
final class Fixture {
  /** More than states of one test are alive at once. */
  private static final int SLOTS = 1 << 17;

  private static final long SLOT_BYTES = Long.BYTES;

  static final Fixture SHARED = new Fixture();

  final StressContext context = StressContext.create();
  final TcpTransport transport = (TcpTransport) new OrbitteTcpProvider().open(context);
  private final AtomicLong lastSlot = new AtomicLong();
  private final AtomicLong lastId = new AtomicLong();
  private final MemorySegment memory = Arena.global().allocate(SLOTS * SLOT_BYTES, SLOT_BYTES);
  private final Region region = region(new RegionId(0, 1), memory);

  private Fixture() {
    var _ = transport.register(region);
  }

  static Region region(RegionId id, MemorySegment memory) {
    return new Region(
        id, -1, 0, memory, MemoryKind.HOST, Permission.READ_WRITE, Region.Backing.BORROWED);
  }

  /** A region over a slot of its own, not registered. */
  Region unregistered() {
    return region(new RegionId(0, lastId.incrementAndGet() + 1), slot().memory());
  }

  /** Eight bytes that no other living state uses, 0. */
  Slot slot() {
    long at = lastSlot.incrementAndGet() % SLOTS * SLOT_BYTES;
    Slot slot =
        new Slot(Descriptor.of(region.id(), at, SLOT_BYTES), memory.asSlice(at, SLOT_BYTES));
    slot.write(0);
    return slot;
  }

  /** Admits this very transport as a requester of some ranges. */
  TcpSourceHold admit(TcpTransport owner, Descriptor... ranges) {
    return (TcpSourceHold)
        owner.admit(new Transport.Admission(openGrant(), transport.epoch(), List.of(ranges)));
  }

  /** A new grant of the shared transport, opened at its issuer. */
  GrantId openGrant() {
    long number = lastId.incrementAndGet();
    GrantId grant = new GrantId(number, number, transport.epoch());
    context.receipts().open(grant);
    return grant;
  }

  /** A new ticket, opened at its issuer. */
  TicketId openTicket() {
    TicketId ticket = new TicketId(lastId.incrementAndGet(), transport.epoch());
    context.receipts().open(ticket);
    return ticket;
  }

  /** Eight bytes: where, and the memory. */
  record Slot(Descriptor descriptor, MemorySegment memory) {
    long read() {
      return memory.get(ValueLayout.JAVA_LONG, 0);
    }

    void write(long value) {
      memory.set(ValueLayout.JAVA_LONG, 0, value);
    }
  }
}
