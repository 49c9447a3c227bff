package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The owner's half: when its receipt comes, and when it does not. */
class SourceHoldTest {
  private static final int MIB_8 = 8 << 20;
  private static final byte NEW_USE = (byte) 0xEE;
  private static final byte OLD_USE = (byte) 0x11;

  private final Epoch self = Epoch.random();

  @Test
  void receiptNeedsRetirementAndComesOnce() {
    try (Host owner = Host.open()) {
      SourceHold hold = owner.admit(self, Descriptor.of(owner.registered(4_096).id(), 0, 4_096));
      // Guard: retired in Gate.drained; a count of zero alone would do.
      assertThat(hold.drain()).isEmpty();
      hold.revoke();
      hold.revoke();
      assertThat(owner.spend(hold)).isEqualTo(Evidence.LOCAL_QUIESCED);
      assertThat(hold.drain()).isEmpty();
      assertThat(owner.context.meter("source_holds")).isZero();
    }
  }

  @Test
  void stuckReplyKeepsTheSourceAndQueuedReadIsRefused() throws IOException {
    try (Host owner = Host.open()) {
      Region busy = owner.registered(MIB_8);
      busy.memory().fill(OLD_USE);
      Region other = owner.registered(4_096);
      SourceHold stuck = owner.admit(self, Descriptor.of(busy.id(), 0, MIB_8));
      SourceHold queued = owner.admit(self, Descriptor.of(other.id(), 0, 4_096));
      try (RawRequester requester = RawRequester.greeted(owner, self)) {
        requester.send(RawRequester.read(1, stuck, 0, 0, MIB_8));
        requester.send(RawRequester.read(2, stuck, 0, 0, MIB_8));
        requester.send(RawRequester.read(3, queued, 0, 0, 4_096));
        RawRequester.Reply first = requester.reply();
        assertThat(first.payload()).isEqualTo(MIB_8);
        // The first reply's header came, so its handler has entered, and 8 MiB do not fit.
        queued.revoke();
        assertThat(owner.spend(queued)).isEqualTo(Evidence.LOCAL_QUIESCED);
        stuck.revoke();
        // Guard: TcpSourceHold.leave after the send; a leave before it gives a receipt here.
        assertThat(stuck.drain()).isEmpty();
        requester.in.readFully(new byte[1 << 20]);
        assertThat(stuck.drain()).isEmpty();
        requester.in.readFully(new byte[MIB_8 - (1 << 20)]);
        // Guard: the gate's retired bit in enter; without it the second and third bring data.
        RawRequester.Reply second = requester.reply();
        assertThat(second.requestId()).isEqualTo(2);
        assertThat(second.fault()).isEqualTo(FaultCode.GRANT_ENDED.wire());
        RawRequester.Reply third = requester.reply();
        assertThat(third.requestId()).isEqualTo(3);
        assertThat(third.fault()).isEqualTo(FaultCode.GRANT_ENDED.wire());
        assertThat(owner.spend(stuck)).isEqualTo(Evidence.LOCAL_QUIESCED);
      }
    }
  }

  @Test
  void stuckReplyIsEndedAfterTheGraceAndReusedMemoryIsNotSent() throws IOException {
    long grace = TimeUnit.MILLISECONDS.toNanos(300);
    try (Host owner = Host.open(grace)) {
      Region region = owner.registered(MIB_8);
      region.memory().fill(OLD_USE);
      SourceHold hold = owner.admit(self, Descriptor.of(region.id(), 0, MIB_8));
      try (RawRequester requester = RawRequester.greeted(owner, self)) {
        for (int i = 1; i <= 3; i++) {
          requester.send(RawRequester.read(i, hold, 0, 0, MIB_8));
        }
        assertThat(requester.reply().requestId()).isEqualTo(1);
        long retired = System.nanoTime();
        hold.revoke();
        // Guard: Connection shutdown in OwnerService.endStuckReplies; without it no receipt comes.
        assertThat(owner.spend(hold)).isEqualTo(Evidence.LOCAL_QUIESCED);
        assertThat(System.nanoTime() - retired).isGreaterThanOrEqualTo(grace);
        region.memory().fill(NEW_USE);
        assertThat(readToTheEnd(requester)).isLessThan(MIB_8);
      }
    }
  }

  /** Counts what still comes, all of which must be of the old use. */
  private static int readToTheEnd(RawRequester requester) {
    byte[] bytes = new byte[64 << 10];
    int sum = 0;
    try {
      for (int count = requester.in.read(bytes); count >= 0; count = requester.in.read(bytes)) {
        sum += count;
        for (int i = 0; i < count; i++) {
          if (bytes[i] != OLD_USE) {
            throw new AssertionError("memory of the next use was sent");
          }
        }
      }
    } catch (IOException e) {
      // A reset: the owner closed over READs that it had not taken.
    }
    return sum;
  }

  @Test
  void closeSourceWaitsForHandlersAndReportsWhatIsDrained() throws IOException {
    try (Host owner = Host.open()) {
      Region region = owner.registered(MIB_8);
      SourceHold idle = owner.admit(self, Descriptor.of(region.id(), 0, MIB_8));
      SourceHold stuck = owner.admit(self, Descriptor.of(region.id(), 0, MIB_8));
      try (RawRequester requester = RawRequester.greeted(owner, self)) {
        requester.send(RawRequester.read(1, stuck, 0, 0, MIB_8));
        assertThat(requester.reply().requestId()).isEqualTo(1);
        List<DrainReceipt> at = owner.transport.closeSource(System.nanoTime());
        assertThat(at).extracting(DrainReceipt::subject).containsExactly(idle.grant());
        owner.context.receipts().spend(at.get(0), idle.grant());
        assertRefused(owner, FaultCode.CLOSING, Descriptor.of(region.id(), 0, 1));
        // Guard: the half of the deadline in closeSource; the grace alone is a minute here.
        List<DrainReceipt> later =
            owner.transport.closeSource(System.nanoTime() + TimeUnit.SECONDS.toNanos(2));
        assertThat(later).extracting(DrainReceipt::subject).containsExactly(stuck.grant());
        owner.context.receipts().spend(later.get(0), stuck.grant());
      }
    }
  }

  @Test
  void admissionIsCheckedAndLeavesNothingBehind() {
    try (Host owner = Host.open()) {
      Region region = owner.registered(4_096);
      Region writeOnly = owner.region(4_096, Permission.WRITE);
      Region unregistered = owner.region(4_096, Permission.READ);
      var registration = owner.transport.register(writeOnly);
      assertRefused(owner, FaultCode.INVALID, Descriptor.of(region.id(), 1, 4_096));
      assertRefused(owner, FaultCode.INVALID, Descriptor.of(region.id(), 1L << 62, 4_096));
      assertRefused(owner, FaultCode.DENIED, Descriptor.of(writeOnly.id(), 0, 1));
      assertRefused(owner, FaultCode.NOT_FOUND, Descriptor.of(unregistered.id(), 0, 1));
      assertCode(
          FaultCode.STALE_EPOCH,
          () ->
              owner.transport.admit(
                  new Transport.Admission(
                      new GrantId(1, 1, Epoch.random()),
                      self,
                      List.of(Descriptor.of(region.id(), 0, 1)))));
      registration.close();
    }
  }

  private void assertRefused(Host owner, FaultCode code, Descriptor bad) {
    Region good = owner.registered(1);
    assertCode(
        code,
        () ->
            owner.transport.admit(
                new Transport.Admission(
                    owner.grant(Long.MAX_VALUE, 1),
                    self,
                    List.of(Descriptor.of(good.id(), 0, 1), bad))));
  }

  private static void assertCode(FaultCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }
}
