package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import org.junit.jupiter.api.Test;

/** What a registration covers, who may use it, and when it can be given up. */
public abstract class RegistrationTck extends ProviderTck {
  private static final long SIZE = 64 << 10;

  /** For subclasses. */
  protected RegistrationTck() {}

  @Test
  void registrationSaysWhatItCovers() {
    KitEngine owner = pair().owner();
    Registration registration = owner.registration(owner.memory(SIZE), Permission.READ_WRITE);
    assertThat(registration.region().length()).isEqualTo(SIZE);
    assertThat(registration.describe()).isEqualTo(registration.describe());
  }

  @Test
  void oneNameIsRegisteredOnce() {
    KitEngine owner = pair().owner();
    Region region = owner.register(owner.memory(SIZE));
    assertRefused(FaultCode.IN_USE, () -> owner.transport().register(region));
  }

  @Test
  void isClosedOnce() {
    KitEngine owner = pair().owner();
    Registration registration = owner.registration(owner.memory(SIZE), Permission.READ);
    registration.close();
    owner.forget(registration);
    assertThatThrownBy(registration::close).isInstanceOf(IllegalStateException.class);
    assertRefused(FaultCode.NOT_FOUND, () -> pair().admit(registration.region()));
  }

  @Test
  void closedMemoryCanBeRegisteredAgainUnderANewName() {
    KitEngine owner = pair().owner();
    GuardedMemory memory = owner.memory(SIZE).fill(1);
    Registration first = owner.registration(memory, Permission.READ);
    first.close();
    owner.forget(first);
    Region second = owner.register(memory);
    assertRead(second, 1);
  }

  private void assertRead(Region source, long seed) {
    GuardedMemory memory = pair().requester().memory(source.length());
    Region target = pair().requester().register(memory);
    Peer peer = pair().connect();
    Batch batch = EnginePair.whole(peer.importRegion(pair().admit(source).wireForm()), target);
    Ticket ticket = pair().requester().read(peer, batch);
    assertThat(Await.outcome(ticket).completed()).as("%s", ticket.outcome()).isTrue();
    memory.assertHolds("destination", GuardedMemory.pattern(seed, source.length()));
  }

  @Test
  void destinationStaysRegisteredUntilTheReceipt() {
    KitEngine requester = pair().requester();
    Region source = pair().owner().register(pair().owner().memory(SIZE).fill(2));
    Registration target = requester.registration(requester.memory(SIZE), Permission.WRITE);
    Peer peer = pair().connect();
    Batch batch =
        EnginePair.whole(peer.importRegion(pair().admit(source).wireForm()), target.region());
    Ticket ticket = requester.read(peer, batch);
    assertRefused(FaultCode.IN_USE, target::close);
    var _ = Await.outcome(ticket);
    assertRefused(FaultCode.IN_USE, target::close);
    var _ = requester.spend(ticket);
    target.close();
    requester.forget(target);
  }

  @Test
  void sourceStaysRegisteredUntilTheReceipt() {
    KitEngine owner = pair().owner();
    Registration source = owner.registration(owner.memory(SIZE), Permission.READ);
    SourceHold hold = pair().admit(source.region());
    assertRefused(FaultCode.IN_USE, source::close);
    hold.revoke();
    assertRefused(FaultCode.IN_USE, source::close);
    var _ = owner.spend(hold);
    source.close();
    owner.forget(source);
  }

  @Test
  void runningReadKeepsBothSidesRegistered() {
    needs(Behaviour.STALL);
    long bytes = 1 << 20;
    KitEngine owner = pair().owner();
    KitEngine requester = pair().requester();
    Registration source = owner.registration(owner.memory(bytes).fill(3), Permission.READ);
    Registration target = requester.registration(requester.memory(bytes), Permission.WRITE);
    Peer peer = pair().connect();
    SourceHold hold = pair().admit(source.region());
    pair().lever().stallAfter(bytes / 2);
    Ticket ticket =
        requester.read(peer, EnginePair.whole(peer.importRegion(hold.wireForm()), target.region()));
    source.revoke();
    target.revoke();
    assertRefused(FaultCode.IN_USE, source::close);
    assertRefused(FaultCode.IN_USE, target::close);
    pair().lever().resume();
    // Work that has begun goes on after a revocation.
    assertThat(Await.outcome(ticket).completed()).as("%s", ticket.outcome()).isTrue();
  }

  @Test
  void revokedRegionTakesNoNewWork() {
    KitEngine requester = pair().requester();
    Registration source =
        pair().owner().registration(pair().owner().memory(SIZE), Permission.READ_WRITE);
    Registration target = requester.registration(requester.memory(SIZE), Permission.READ_WRITE);
    Peer peer = pair().connect();
    Batch batch =
        EnginePair.whole(
            peer.importRegion(pair().admit(source.region()).wireForm()), target.region());
    source.revoke();
    source.revoke();
    target.revoke();
    assertRefused(FaultCode.NOT_FOUND, () -> pair().admit(source.region()));
    assertRefused(FaultCode.NOT_FOUND, () -> requester.read(peer, batch));
    assertThat(requester.context().places()).isZero();
  }

  @Test
  void permissionIsHeldTo() {
    KitEngine owner = pair().owner();
    KitEngine requester = pair().requester();
    Region writeOnly = owner.registration(owner.memory(SIZE), Permission.WRITE).region();
    assertRefused(FaultCode.DENIED, () -> pair().admit(writeOnly));
    Region source = owner.register(owner.memory(SIZE));
    Region readOnly = requester.registration(requester.memory(SIZE), Permission.READ).region();
    Peer peer = pair().connect();
    Batch batch = EnginePair.whole(peer.importRegion(pair().admit(source).wireForm()), readOnly);
    assertRefused(FaultCode.DENIED, () -> requester.read(peer, batch));
  }

  @Test
  void rangeThatLeavesItsRegionIsRefusedOnBothSides() {
    KitEngine owner = pair().owner();
    KitEngine requester = pair().requester();
    Region source = owner.register(owner.memory(SIZE));
    var epoch = requester.transport().epoch();
    assertRefused(FaultCode.INVALID, () -> owner.admit(epoch, Descriptor.of(source.id(), 1, SIZE)));
    assertRefused(FaultCode.INVALID, () -> owner.admit(epoch, Descriptor.of(source.id(), SIZE, 1)));
    GuardedMemory memory = requester.memory(SIZE).fill(4);
    Region target = requester.register(memory);
    Peer peer = pair().connect();
    var imported = peer.importRegion(pair().admit(source).wireForm());
    for (Descriptor bad :
        new Descriptor[] {
          Descriptor.of(target.id(), 1, SIZE),
          Descriptor.of(target.id(), SIZE - 1, SIZE),
          new Descriptor(target.id(), 0, SIZE / 4, SIZE / 3 + 1, 4),
        }) {
      Batch batch = Batch.from(imported).add(bad, RemoteDescriptor.of(0, 0, bad.bytes())).build();
      assertRefused(FaultCode.INVALID, () -> requester.read(peer, batch));
    }
    memory.assertStays("destination of refused reads", GuardedMemory.pattern(4, SIZE), WATCH_NANOS);
  }

  @Test
  void unknownRegionIsRefused() {
    KitEngine requester = pair().requester();
    RegionId unknown = new RegionId(Long.MAX_VALUE, 1);
    assertRefused(
        FaultCode.NOT_FOUND,
        () -> pair().owner().admit(requester.transport().epoch(), Descriptor.of(unknown, 0, 1)));
    Region source = pair().owner().register(pair().owner().memory(SIZE));
    Peer peer = pair().connect();
    Batch batch =
        Batch.from(peer.importRegion(pair().admit(source).wireForm()))
            .add(Descriptor.of(unknown, 0, 1), RemoteDescriptor.of(0, 0, 1))
            .build();
    assertRefused(FaultCode.NOT_FOUND, () -> requester.read(peer, batch));
  }

  @Test
  void undeclaredKindOfMemoryIsRefused() {
    KitEngine owner = pair().owner();
    for (MemoryKind.Type type : MemoryKind.Type.values()) {
      if (owner.transport().capabilities().memory().contains(type)) {
        continue;
      }
      Region host = owner.memory(SIZE).region(Permission.READ);
      Region other =
          new Region(
              host.id(),
              host.fd(),
              host.fdOffset(),
              host.memory(),
              type == MemoryKind.Type.HOST ? MemoryKind.HOST : MemoryKind.cuda(0),
              Permission.READ,
              Region.Backing.BORROWED);
      assertRefused(FaultCode.UNSUPPORTED, () -> owner.transport().register(other));
    }
  }
}
