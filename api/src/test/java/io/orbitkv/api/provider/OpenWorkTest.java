package io.orbitkv.api.provider;

import static io.orbitkv.api.provider.TwoEnds.BYTES;
import static io.orbitkv.api.provider.TwoEnds.batch;
import static io.orbitkv.api.provider.TwoEnds.codeOf;
import static io.orbitkv.api.provider.TwoEnds.region;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.Transport.Admission;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OpenWorkTest {
  private final TwoEnds ends = new TwoEnds(1);
  private final Region destination = region(Permission.READ_WRITE);
  private final ImportedGrant source = ends.source();

  private Batch whole() {
    return batch(source, destination.id(), 0, BYTES);
  }

  // Guards: OpenWork.checkLimits; the three checks of RegionTable.use and its finally; the finally
  // of OpenWork.submit.
  @Test
  void batchThatIsRefusedHasTakenNothing() {
    Registration registered = ends.requester.register(destination);
    Region readOnly = region(Permission.READ);
    Registration readable = ends.requester.register(readOnly);
    Batch.Builder many = Batch.from(source);
    for (int i = 0; i < 65; i++) {
      many.add(Descriptor.of(destination.id(), 0, 1), RemoteDescriptor.of(0, 0, 1));
    }
    Batch tooMany = many.build();
    Batch.Builder large = Batch.from(source);
    for (int i = 0; i < 17; i++) {
      large.add(Descriptor.of(destination.id(), 0, BYTES), RemoteDescriptor.of(0, 0, BYTES));
    }
    Batch tooLarge = large.build();
    Batch secondLeaves =
        Batch.from(source)
            .add(Descriptor.of(destination.id(), 0, 8), RemoteDescriptor.of(0, 0, 8))
            .add(Descriptor.of(destination.id(), BYTES - 7, 8), RemoteDescriptor.of(0, 0, 8))
            .build();
    assertRefused(FaultCode.INVALID, tooMany);
    assertRefused(FaultCode.INVALID, tooLarge);
    assertRefused(FaultCode.INVALID, secondLeaves);
    assertRefused(FaultCode.DENIED, batch(source, readOnly.id(), 0, 8));
    assertRefused(FaultCode.NOT_FOUND, batch(source, new RegionId(1 << 20, 1), 0, 8));
    GatedTicket first = ends.submit(whole(), () -> {});
    assertThat(codeOf(() -> ends.submit(whole(), () -> {}))).isEqualTo(FaultCode.EXHAUSTED);
    end(first);
    registered.close();
    readable.close();
    assertThat(ends.requesterContext.places()).hasValue(0);
    assertThat(ends.requester.close()).isTrue();
    assertThat(ends.requester.close()).isFalse();
  }

  private void assertRefused(FaultCode code, Batch batch) {
    assertThat(codeOf(() -> ends.submit(batch, () -> {}))).as("%s", batch).isEqualTo(code);
    assertThat(ends.requesterContext.places()).hasValue(0);
  }

  private static void end(GatedTicket ticket) {
    ticket.run(() -> Outcome.COMPLETED);
    assertThat(ticket.drain()).isPresent();
  }

  // Guards: the users that RegisteredRegion.close asks for; the regions in OpenWork.close.
  @Test
  void nothingClosesBeforeTheReceipt() {
    Registration registered = ends.requester.register(destination);
    GatedTicket ticket = ends.submit(whole(), () -> {});
    ticket.cancel();
    assertThat(codeOf(registered::close)).isEqualTo(FaultCode.IN_USE);
    assertThat(codeOf(ends.requester::close)).isEqualTo(FaultCode.IN_USE);
    registered.revoke();
    assertThat(codeOf(() -> ends.submit(whole(), () -> {}))).isEqualTo(FaultCode.NOT_FOUND);
    assertThat(ticket.drain()).isPresent();
    assertThat(codeOf(ends.requester::close)).isEqualTo(FaultCode.IN_USE);
    registered.close();
    assertThatThrownBy(registered::close).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(registered::revoke).isInstanceOf(IllegalStateException.class);
    assertThat(ends.requester.close()).isTrue();
    assertThat(codeOf(() -> ends.requester.register(destination))).isEqualTo(FaultCode.CLOSING);
  }

  // Guards: the checks of RegionTable.add.
  @Test
  void registersWhatItsThreadsMayTouchAndEachNameOnce() {
    var _ = ends.requester.register(destination);
    assertThat(codeOf(() -> ends.requester.register(destination))).isEqualTo(FaultCode.IN_USE);
    try (Arena confined = Arena.ofConfined()) {
      Region mine = region(Permission.READ_WRITE, confined);
      assertThat(codeOf(() -> ends.requester.register(mine))).isEqualTo(FaultCode.INVALID);
    }
    for (int i = 1; i < OpenWork.MAX_REGIONS; i++) {
      var _ = ends.requester.register(region(Permission.READ));
    }
    Region oneMore = region(Permission.READ);
    assertThat(codeOf(() -> ends.requester.register(oneMore))).isEqualTo(FaultCode.EXHAUSTED);
  }

  // Guards: "withdrawn" in RegisteredRegion.endClose, and "closing" in its use.
  @Test
  void deviceThatRefusesKeepsItsRegistration() {
    AtomicInteger asked = new AtomicInteger();
    byte[] key = {1, 2, 3};
    Registration registered =
        ends.requester.register(
            destination,
            key,
            () -> {
              assertThat(codeOf(() -> ends.submit(whole(), () -> {})))
                  .as("a use while the device lets go")
                  .isEqualTo(FaultCode.NOT_FOUND);
              if (asked.incrementAndGet() == 1) {
                throw new TransportException(FaultCode.DEVICE, "the device is busy");
              }
            });
    assertThat(registered.describe()).isEqualTo(key);
    assertThat(codeOf(registered::close)).isEqualTo(FaultCode.DEVICE);
    end(ends.submit(whole(), () -> {}));
    registered.close();
    assertThat(asked).hasValue(2);
    assertThat(ends.requester.close()).isTrue();
  }

  // Guards: GatedHold.enter and OpenWork.enter, each check; the two of GatedHold.source.
  @Test
  void onlyTheRequesterWithTheSecretEntersAndSeesWhatWasGranted() {
    Epoch requester = ends.requesterContext.receipts().epoch();
    GrantId grant = source.grant();
    byte[] secret = source.secret();
    secret[15]++;
    assertThat(codeOf(() -> ends.owner.enter(grant, secret, requester)))
        .isEqualTo(FaultCode.DENIED);
    assertThat(codeOf(() -> ends.owner.enter(grant, source.secret(), Epoch.random())))
        .isEqualTo(FaultCode.DENIED);
    GrantId older = new GrantId(grant.id(), grant.generation(), Epoch.random());
    assertThat(codeOf(() -> ends.owner.enter(older, source.secret(), requester)))
        .isEqualTo(FaultCode.STALE_EPOCH);
    GrantId next = new GrantId(grant.id(), grant.generation() + 1, grant.epoch());
    assertThat(codeOf(() -> ends.owner.enter(next, source.secret(), requester)))
        .isEqualTo(FaultCode.GRANT_ENDED);
    GatedHold hold = ends.enter(source);
    assertThat(hold.source(RemoteDescriptor.of(0, BYTES - 8, 8)).byteSize()).isEqualTo(BYTES);
    assertThat(codeOf(() -> hold.source(RemoteDescriptor.of(0, BYTES - 7, 8))))
        .isEqualTo(FaultCode.DENIED);
    assertThat(codeOf(() -> hold.source(RemoteDescriptor.of(1, 0, 8)))).isEqualTo(FaultCode.DENIED);
    hold.revoke();
    assertThat(codeOf(() -> ends.enter(source))).isEqualTo(FaultCode.GRANT_ENDED);
    assertThat(hold.drain()).isEmpty();
    assertThat(codeOf(ends.owner::close)).isEqualTo(FaultCode.IN_USE);
    hold.leave();
    assertThat(hold.drain()).isPresent();
    assertThat(hold.drain()).isEmpty();
    assertThatThrownBy(hold::leave).isInstanceOf(IllegalStateException.class);
  }

  // Guards: OpenWork.checkEpoch and containsKey in OpenWork.admit.
  @Test
  void admissionOfAnotherIncarnationOrTwiceIsRefused() {
    Region memory = region(Permission.READ);
    Registration registered = ends.owner.register(memory);
    GatedHold hold = ends.admit(memory, () -> {});
    assertThat(codeOf(() -> admit(hold.grant(), memory))).isEqualTo(FaultCode.IN_USE);
    GrantId foreign = new GrantId(1, 1, Epoch.random());
    assertThat(codeOf(() -> admit(foreign, memory))).isEqualTo(FaultCode.STALE_EPOCH);
    hold.revoke();
    assertThat(hold.drain()).isPresent();
    registered.close();
  }

  private GatedHold admit(GrantId grant, Region memory) {
    List<Descriptor> ranges = List.of(Descriptor.of(memory.id(), 0, 8));
    return ends.owner.admit(
        new Admission(grant, Epoch.random(), ranges), Evidence.LOCAL_QUIESCED, () -> {});
  }

  // Guards: "revoked" in GatedHold.revoke; OpenWork.awaitLeft, which without its loop gives one
  // receipt, and with a loop that ends by the deadline alone takes a minute.
  @Test
  void closeOfTheSourceWaitsForWhoIsInsideAndLeavesOutWhoStays() throws InterruptedException {
    Region memory = region(Permission.READ);
    var _ = ends.owner.register(memory);
    AtomicInteger stuck = new AtomicInteger();
    GatedHold slow = ends.admit(memory, stuck::incrementAndGet);
    ImportedGrant imported = ImportedGrant.read(slow.wireForm(), ends.peer);
    assertThat(ends.enter(imported)).isSameAs(slow);
    List<DrainReceipt> early = ends.owner.closeSource(System.nanoTime());
    assertThat(early).extracting(DrainReceipt::subject).containsExactly(source.grant());
    assertThat(stuck).as("told that somebody is inside").hasValue(1);
    Thread leaves =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (stuck.get() == 1) {
                    Thread.onSpinWait();
                  }
                  slow.leave();
                });
    Thread closes =
        Thread.ofPlatform()
            .start(
                () -> {
                  long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
                  if (ends.owner.closeSource(deadline).size() == 1) {
                    stuck.set(3);
                  }
                });
    while (closes.getState() != Thread.State.TIMED_WAITING) {
      assertThat(closes.isAlive()).as("it waits for who is inside").isTrue();
      Thread.onSpinWait();
    }
    stuck.set(2);
    leaves.join();
    closes.join(TimeUnit.SECONDS.toMillis(30));
    assertThat(stuck).as("one receipt, before the deadline").hasValue(3);
    assertThat(codeOf(() -> ends.admit(memory, () -> {}))).isEqualTo(FaultCode.CLOSING);
  }
}
