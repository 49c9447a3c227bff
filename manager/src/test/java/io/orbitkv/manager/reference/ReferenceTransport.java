package io.orbitkv.manager.reference;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.api.spi.Transport;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

final class ReferenceTransport implements Transport {
  private static final Map<Epoch, ReferenceTransport> OPEN = new ConcurrentHashMap<>();

  private final ProviderContext context;
  private final Lever lever;
  private final Map<RegionId, Region> regions = new ConcurrentHashMap<>();
  private final Map<String, ReferenceHold> holds = new ConcurrentHashMap<>();
  private final ExecutorService copies;
  private volatile boolean quiesced;

  ReferenceTransport(ProviderContext context, Lever lever) {
    this.context = context;
    this.lever = lever;
    this.copies = Executors.newCachedThreadPool(context.threads("copy"));
    OPEN.put(epoch(), this);
  }

  @Override
  public Epoch epoch() {
    return context.receipts().epoch();
  }

  @Override
  public URI endpoint() {
    return URI.create("reference://" + epoch());
  }

  @Override
  public byte[] peerBytes() {
    return new byte[0];
  }

  @Override
  public Capabilities capabilities() {
    return ReferenceProvider.CAPABILITIES;
  }

  @Override
  public Registration register(Region region) {
    if (regions.putIfAbsent(region.id(), region) != null) {
      throw new TransportException(FaultCode.IN_USE, region.id() + " is registered already");
    }
    return new Registration() {
      @Override
      public Region region() {
        return region;
      }

      @Override
      public byte[] describe() {
        return new byte[0];
      }

      @Override
      public void revoke() {
        regions.remove(region.id());
      }

      @Override
      public void close() {
        if (holds.values().stream().anyMatch(hold -> !hold.drained())) {
          throw new TransportException(FaultCode.IN_USE, region.id() + " has a source hold");
        }
        regions.remove(region.id());
      }
    };
  }

  @Override
  public SourceHold admit(Admission admission) {
    checkOpen();
    ReferenceHold hold = new ReferenceHold(context.receipts(), admission);
    holds.put(new String(hold.wireForm(), StandardCharsets.US_ASCII), hold);
    return hold;
  }

  @Override
  public Peer connect(URI endpoint, Epoch expected, byte[] peerBytes) {
    checkOpen();
    return new ReferencePeer(expected);
  }

  @Override
  public void quiesce() {
    quiesced = true;
  }

  @Override
  public List<DrainReceipt> closeSource(long deadlineNanos) {
    quiesce();
    List<DrainReceipt> receipts = new ArrayList<>();
    for (ReferenceHold hold : holds.values()) {
      hold.revoke();
      hold.awaitLeft(deadlineNanos);
      hold.drain().ifPresent(receipts::add);
    }
    return receipts;
  }

  @Override
  public void close() {
    if (!regions.isEmpty()) {
      throw new TransportException(FaultCode.IN_USE, regions.keySet() + " are registered");
    }
    OPEN.remove(epoch(), this);
    copies.shutdown();
  }

  private void checkOpen() {
    if (quiesced) {
      throw new TransportException(FaultCode.CLOSING, "the transport is closing");
    }
  }

  private MemorySegment memory(Descriptor descriptor) {
    Region region = regions.get(descriptor.region());
    if (region == null || descriptor.count() != 1 || descriptor.end() > region.length()) {
      throw new TransportException(FaultCode.INVALID, descriptor + " is not registered");
    }
    return region.memory().asSlice(descriptor.offset(), descriptor.length());
  }

  private record Imported(ReferenceHold hold) implements RemoteRegion {
    @Override
    public io.orbitkv.api.GrantId grant() {
      return hold.grant();
    }

    @Override
    public int ranges() {
      return hold.ranges().size();
    }

    @Override
    public long length(int range) {
      return hold.ranges().get(range).length();
    }
  }

  private final class ReferencePeer implements Peer {
    private final Epoch owner;

    ReferencePeer(Epoch owner) {
      this.owner = owner;
    }

    @Override
    public Epoch epoch() {
      return owner;
    }

    @Override
    public RemoteRegion importRegion(byte[] wireForm) {
      ReferenceTransport remote = OPEN.get(owner);
      ReferenceHold hold =
          remote == null ? null : remote.holds.get(new String(wireForm, StandardCharsets.US_ASCII));
      if (hold == null) {
        throw new TransportException(FaultCode.STALE_EPOCH, "no such grant at " + owner);
      }
      return new Imported(hold);
    }

    @Override
    public Ticket read(Batch batch, TicketId id, TicketOptions options) {
      checkOpen();
      ReferenceHold hold = ((Imported) batch.source()).hold();
      List<MemorySegment> destinations = new ArrayList<>();
      for (int i = 0; i < batch.size(); i++) {
        destinations.add(memory(batch.local(i)));
      }
      AdmissionBudget.Place place = context.budget().take(64L * batch.size());
      ReferenceTicket ticket = new ReferenceTicket(context.receipts(), id, place);
      copies.execute(() -> ticket.leave(copy(batch, hold, destinations)));
      return ticket;
    }

    @Override
    public void close() {}

    private Outcome copy(Batch batch, ReferenceHold hold, List<MemorySegment> destinations) {
      ReferenceTransport remote = OPEN.get(owner);
      if (remote == null || !hold.enter(ReferenceTransport.this.epoch())) {
        return new Outcome.Failed(FaultCode.GRANT_ENDED, "the grant has ended");
      }
      try {
        lever.pass();
        for (int i = 0; i < batch.size(); i++) {
          Descriptor range = hold.ranges().get(batch.remote(i).range());
          MemorySegment from =
              remote.memory(range).asSlice(batch.remote(i).offset(), batch.remote(i).length());
          destinations.get(i).copyFrom(from);
        }
        return Outcome.COMPLETED;
      } finally {
        hold.leave();
      }
    }
  }

  @Override
  public String toString() {
    return "reference transport " + Optional.of(epoch());
  }
}
