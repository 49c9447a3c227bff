package io.orbitkv.provider.tcp;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Peer.TicketOptions;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.PageSize;
import io.orbitkv.ffm.Protection;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** One transport with the little of a Manager that it needs; ends everything in order. */
final class Host implements AutoCloseable {
  private static final AtomicLong NUMBERS = new AtomicLong();

  /** Regions begin behind the start of their file, as those of a pool may. */
  private static final long FILE_OFFSET = 1 << 16;

  final TestContext context;
  final Transport transport;
  private final List<Mapping> memory = new CopyOnWriteArrayList<>();
  private final List<Fd> files = new CopyOnWriteArrayList<>();
  private final List<Registration> registrations = new CopyOnWriteArrayList<>();
  private final List<SourceHold> holds = new CopyOnWriteArrayList<>();
  private final List<Ticket> tickets = new CopyOnWriteArrayList<>();
  private final Epoch manager = Epoch.random();

  Host(TestContext context) {
    this.context = context;
    transport = new OrbitteTcpProvider().open(context);
  }

  static Host open(String... options) {
    return open(TestContext.GRACE_NANOS, options);
  }

  static Host open(long graceNanos, String... options) {
    return new Host(new TestContext("127.0.0.1", graceNanos, 1_024, options(options)));
  }

  static Map<String, String> options(String... pairs) {
    Map<String, String> options = new java.util.HashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      options.put("orbitte-tcp-" + pairs[i], pairs[i + 1]);
    }
    return options;
  }

  Region region(long bytes, Permission permission) {
    long rounded = PageSize.roundUp(bytes);
    Fd file = Memfd.create("orbitte-tcp-test", FILE_OFFSET + rounded);
    Mapping mapping = Mapping.map(file, FILE_OFFSET, rounded, Protection.READ_WRITE, true);
    memory.add(mapping);
    files.add(file);
    return new Region(
        new RegionId(NUMBERS.incrementAndGet(), 1),
        file.number(),
        FILE_OFFSET,
        mapping.segment().asSlice(0, bytes),
        MemoryKind.HOST,
        permission,
        Region.Backing.BORROWED);
  }

  Region registered(long bytes) {
    Region region = region(bytes, Permission.READ_WRITE);
    registrations.add(transport.register(region));
    return region;
  }

  /** A registered region filled with the bytes of a seed. */
  Region filled(long bytes, long seed) {
    Region region = registered(bytes);
    fill(region.memory(), seed);
    return region;
  }

  static void fill(MemorySegment memory, long seed) {
    Random random = new Random(seed);
    long at = 0;
    for (; at + 8 <= memory.byteSize(); at += 8) {
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, random.nextLong());
    }
    for (; at < memory.byteSize(); at++) {
      memory.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
    }
  }

  GrantId grant(long id, long generation) {
    return new GrantId(id, generation, transport.epoch());
  }

  SourceHold admit(Epoch requester, Descriptor... ranges) {
    return admit(grant(NUMBERS.incrementAndGet(), 1), requester, ranges);
  }

  SourceHold admit(GrantId grant, Epoch requester, Descriptor... ranges) {
    context.receipts().open(grant);
    SourceHold hold = transport.admit(new Transport.Admission(grant, requester, List.of(ranges)));
    holds.add(hold);
    return hold;
  }

  SourceHold admitWhole(Host requester, Region region) {
    return admit(requester.transport.epoch(), Descriptor.of(region.id(), 0, region.length()));
  }

  Peer connect(Host owner) {
    return transport.connect(owner.transport.endpoint(), owner.transport.epoch(), new byte[0]);
  }

  TicketId ticketId() {
    TicketId id = new TicketId(NUMBERS.incrementAndGet(), manager);
    context.receipts().open(id);
    return id;
  }

  Ticket read(Peer peer, Batch batch) {
    return read(peer, batch, TicketOptions.NONE);
  }

  Ticket read(Peer peer, Batch batch, TicketOptions options) {
    Ticket ticket = peer.read(batch, ticketId(), options);
    tickets.add(ticket);
    return ticket;
  }

  static Outcome outcome(Ticket ticket) {
    try {
      return ticket
          .await(TimeUnit.SECONDS.toNanos(20))
          .orElseThrow(() -> new AssertionError("no outcome within 20 s: " + ticket));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Takes and spends a ticket's receipt, which must be there. */
  Evidence spend(Ticket ticket) {
    DrainReceipt receipt =
        ticket.drain().orElseThrow(() -> new AssertionError("no receipt: " + ticket));
    context.receipts().spend(receipt, ticket.id());
    return receipt.evidence();
  }

  /** Waits for, takes and spends a hold's receipt. */
  Evidence spend(SourceHold hold) {
    DrainReceipt[] receipt = new DrainReceipt[1];
    Await.until(
        "receipt of " + hold,
        () -> {
          Optional<DrainReceipt> drained = hold.drain();
          drained.ifPresent(found -> receipt[0] = found);
          return drained.isPresent();
        });
    context.receipts().spend(receipt[0], hold.grant());
    return receipt[0].evidence();
  }

  @Override
  public void close() {
    transport.quiesce();
    for (Ticket ticket : tickets) {
      ticket.cancel();
      var _ = outcome(ticket);
      ticket.drain().ifPresent(receipt -> context.receipts().spend(receipt, ticket.id()));
    }
    for (SourceHold hold : holds) {
      hold.revoke();
    }
    transport
        .closeSource(System.nanoTime() + TimeUnit.SECONDS.toNanos(2))
        .forEach(receipt -> context.receipts().spend(receipt, receipt.subject()));
    registrations.forEach(Registration::close);
    transport.close();
    // Guard: EngineThreads.join; without it some thread is still on its way out here.
    if (!context.threadsEnded()) {
      throw new AssertionError("a thread outlived its transport");
    }
    memory.forEach(Mapping::close);
    files.forEach(Fd::close);
    if (context.receipts().openSubjects() != 0 || context.places.get() != 0) {
      throw new AssertionError(
          context.receipts().openSubjects() + " receipts, " + context.places + " places left");
    }
  }
}
