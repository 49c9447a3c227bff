package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Peer.TicketOptions;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The requester's half: outcomes, receipts and what a late byte can do. */
class TicketTest {
  private static final int BYTES = 1 << 20;
  private static final int PREFACE_AND_HEADER = 64 + 40;
  private static final byte NEXT_USE = 0x5A;

  @Test
  void cancelInsideReceiveGivesNoReceiptUntilItLeftAndLateBytesGoNowhere() throws IOException {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "1");
        Proxy proxy = new Proxy(owner.transport)) {
      Transfer transfer = new Transfer(owner, requester, proxy);
      Ticket ticket = transfer.stallAfter(100_000);
      ticket.cancel();
      ticket.cancel();
      // Guard: Gate.enter around the receive; without it outcome and receipt are there at once.
      assertThat(ticket.outcome()).isEmpty();
      assertThat(ticket.drain()).isEmpty();
      proxy.allow(1);
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.CANCELLED);
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
      assertThat(ticket.drain()).isEmpty();

      transfer.target.memory().fill(NEXT_USE);
      proxy.allow(Long.MAX_VALUE);
      Await.until(
          "late bytes", () -> requester.context.meter("discarded_bytes") == BYTES - 100_001);
      // Guard: the retired bit in Gate.enter; without it the late bytes are in the destination.
      transfer.assertTarget(NEXT_USE);
      // Guard: the reply read to its end; a lane that drops it half read loses its place here.
      assertThat(Host.outcome(transfer.read())).isEqualTo(Outcome.COMPLETED);
      transfer.assertArrived();
      assertThat(requester.context.meter("connection_failures")).isZero();
    }
  }

  @Test
  void stalledReceiveIsEndedAfterTheGrace() throws IOException {
    long grace = TimeUnit.MILLISECONDS.toNanos(300);
    try (Host owner = Host.open();
        Host requester = Host.open(grace, "connections", "1");
        Proxy proxy = new Proxy(owner.transport)) {
      Transfer transfer = new Transfer(owner, requester, proxy);
      Ticket ticket = transfer.stallAfter(100_000);
      Ticket behind = transfer.read();
      long cancelled = System.nanoTime();
      ticket.cancel();
      // Guard: TcpPeer.endStuckReceive; without it the outcome never comes.
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.CANCELLED);
      assertThat(System.nanoTime() - cancelled).isGreaterThanOrEqualTo(grace);
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
      assertCode(FaultCode.PEER_LOST, Host.outcome(behind));
      assertThat(requester.spend(behind)).isEqualTo(Evidence.LOCAL_QUIESCED);
      proxy.allow(Long.MAX_VALUE);
      assertThat(Host.outcome(transfer.read())).isEqualTo(Outcome.COMPLETED);
      transfer.assertArrived();
    }
  }

  @Test
  void cancelOfQueuedTicketEndsAtOnce() throws IOException {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "1");
        Proxy proxy = new Proxy(owner.transport)) {
      Transfer transfer = new Transfer(owner, requester, proxy);
      Ticket stalled = transfer.stallAfter(100_000);
      Ticket queued = transfer.read();
      queued.cancel();
      assertThat(queued.outcome()).contains(Outcome.CANCELLED);
      assertThat(requester.spend(queued)).isEqualTo(Evidence.LOCAL_QUIESCED);
      proxy.allow(Long.MAX_VALUE);
      // Guard: the abandoned part stays in the lane's list; without it its reply is a mismatch.
      assertThat(Host.outcome(stalled)).isEqualTo(Outcome.COMPLETED);
      assertThat(Host.outcome(transfer.read())).isEqualTo(Outcome.COMPLETED);
      assertThat(requester.context.meter("connection_failures")).isZero();
    }
  }

  @Test
  void progressTimeoutEndsTheTicketAndItsConnection() throws IOException {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "1");
        Proxy proxy = new Proxy(owner.transport)) {
      Transfer transfer = new Transfer(owner, requester, proxy);
      proxy.allow(PREFACE_AND_HEADER + 5_000);
      long timeout = TimeUnit.MILLISECONDS.toNanos(200);
      long start = System.nanoTime();
      Ticket ticket = requester.read(transfer.peer, transfer.batch(), new TicketOptions(timeout));
      // Guard: ProgressWatch.look; without it there is no outcome.
      Outcome outcome = Host.outcome(ticket);
      assertCode(FaultCode.PEER_LOST, outcome);
      assertThat(outcome.toString()).contains("no byte").contains("200 ms");
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(timeout);
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
      Await.until("down", () -> requester.context.meter("outgoing_connections") == 0);
      proxy.allow(Long.MAX_VALUE);
      Ticket again =
          requester.read(transfer.peer, transfer.batch(), new TicketOptions(10 * timeout));
      assertThat(Host.outcome(again)).isEqualTo(Outcome.COMPLETED);
      transfer.assertArrived();
    }
  }

  @Test
  void lostConnectionFailsTheTicketAndTheNextReadConnectsAgain() throws IOException {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "1");
        Proxy proxy = new Proxy(owner.transport)) {
      Transfer transfer = new Transfer(owner, requester, proxy);
      Ticket ticket = transfer.stallAfter(BYTES - 1);
      proxy.cut();
      assertCode(FaultCode.PEER_LOST, Host.outcome(ticket));
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
      proxy.allow(Long.MAX_VALUE);
      assertThat(Host.outcome(transfer.read())).isEqualTo(Outcome.COMPLETED);
      transfer.assertArrived();
      assertThat(requester.context.meter("connection_failures")).isEqualTo(1);
    }
  }

  @Test
  void closedPeerFailsItsTicketsAndTakesNoMore() throws IOException {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "1");
        Proxy proxy = new Proxy(owner.transport)) {
      Transfer transfer = new Transfer(owner, requester, proxy);
      Ticket ticket = transfer.stallAfter(4_096);
      transfer.peer.close();
      transfer.peer.close();
      assertCode(FaultCode.PEER_LOST, Host.outcome(ticket));
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
      assertRefused(
          FaultCode.CLOSING,
          () -> transfer.peer.read(transfer.batch(), notOpened(), TicketOptions.NONE));
      assertThat(requester.context.places).hasValue(0);
    }
  }

  @Test
  void successorOfTheOwnerIsRefused() {
    try (Host requester = Host.open("connections", "2")) {
      Host first = Host.open();
      int port = first.transport.endpoint().getPort();
      Transfer transfer = new Transfer(first, requester, null);
      assertThat(Host.outcome(transfer.read())).isEqualTo(Outcome.COMPLETED);
      first.close();
      Await.until("down", () -> requester.context.meter("outgoing_connections") == 0);
      assertCode(FaultCode.PEER_LOST, Host.outcome(transfer.read()));
      try (Host second = Host.open("listen", "127.0.0.1:" + port)) {
        // Guard: the epochs of the preface; the successor would serve a grant of the same id.
        assertCode(FaultCode.STALE_EPOCH, Host.outcome(transfer.read()));
        assertThat(second.context.meter("refusals")).isPositive();
      }
    }
  }

  @Test
  void refusedReadFailsWithTheOwnersCode() {
    try (Host owner = Host.open();
        Host requester = Host.open()) {
      Transfer transfer = new Transfer(owner, requester, null);
      transfer.hold.revoke();
      assertCode(FaultCode.GRANT_ENDED, Host.outcome(transfer.read()));
      assertThat(owner.spend(transfer.hold)).isEqualTo(Evidence.LOCAL_QUIESCED);
      assertCode(FaultCode.GRANT_ENDED, Host.outcome(transfer.read()));
      assertThat(owner.context.meter("sent_bytes")).isZero();
    }
  }

  @Test
  void readThrowsWithoutASideEffect() {
    TestContext small = new TestContext("127.0.0.1", TestContext.GRACE_NANOS, 1, Host.options());
    try (Host owner = Host.open();
        Host requester = new Host(small);
        Host stranger = Host.open()) {
      Transfer transfer = new Transfer(owner, requester, null);
      Region readOnly = requester.region(10, Permission.READ);
      var registration = requester.transport.register(readOnly);
      RemoteRegion other =
          stranger
              .connect(owner)
              .importRegion(owner.admitWhole(stranger, transfer.source).wireForm());
      assertRefused(FaultCode.INVALID, () -> submit(transfer, other, transfer.target.id(), 0));
      assertRefused(FaultCode.DENIED, () -> submit(transfer, null, readOnly.id(), 0));
      assertRefused(FaultCode.NOT_FOUND, () -> submit(transfer, null, new RegionId(0, 0), 0));
      assertRefused(
          FaultCode.INVALID, () -> submit(transfer, null, transfer.target.id(), BYTES - 9));
      assertRefused(
          FaultCode.INVALID, () -> submit(transfer, null, transfer.target.id(), 1L << 62));
      assertThat(requester.context.places).hasValue(0);
      registration.close();

      Ticket ticket = transfer.read();
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      long sent = requester.context.meter("requests");
      // Guard: the budget is taken first, and held until the receipt.
      assertRefused(FaultCode.EXHAUSTED, () -> submit(transfer, null, transfer.target.id(), 0));
      assertThat(requester.context.meter("requests")).isEqualTo(sent);
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
      assertThat(Host.outcome(transfer.read())).isEqualTo(Outcome.COMPLETED);
      requester.transport.quiesce();
      assertRefused(FaultCode.CLOSING, () -> submit(transfer, null, transfer.target.id(), 0));
    }
  }

  @Test
  void destinationStaysRegisteredUntilTheReceipt() throws IOException {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "1");
        Proxy proxy = new Proxy(owner.transport)) {
      Transfer transfer = new Transfer(owner, requester, proxy);
      Region region = requester.region(BYTES, Permission.READ_WRITE);
      var registration = requester.transport.register(region);
      proxy.allow(PREFACE_AND_HEADER + 10_000);
      Ticket ticket = requester.read(transfer.peer, transfer.batch(region.id()));
      registration.revoke();
      assertRefused(FaultCode.IN_USE, registration::close);
      ticket.cancel();
      assertRefused(FaultCode.IN_USE, registration::close);
      proxy.allow(Long.MAX_VALUE);
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.CANCELLED);
      // Guard: released only in drain; an outcome is no receipt.
      assertRefused(FaultCode.IN_USE, registration::close);
      assertRefused(FaultCode.IN_USE, requester.transport::close);
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
      registration.close();
      assertThatThrownBy(registration::close).isInstanceOf(IllegalStateException.class);
    }
  }

  private static void submit(Transfer transfer, @Nullable RemoteRegion from, RegionId to, long at) {
    RemoteRegion region = from == null ? transfer.remote : from;
    var _ =
        transfer.peer.read(
            Batch.from(region)
                .add(Descriptor.of(to, at, 10), RemoteDescriptor.of(0, 0, 10))
                .build(),
            notOpened(),
            TicketOptions.NONE);
  }

  private static TicketId notOpened() {
    return new TicketId(-1, Epoch.NONE);
  }

  private static void assertCode(FaultCode code, Outcome outcome) {
    assertThat(outcome)
        .isInstanceOfSatisfying(
            Outcome.Failed.class, failed -> assertThat(failed.code()).isEqualTo(code));
  }

  private static void assertRefused(FaultCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  /** One MiB from an owner to a requester, perhaps through a proxy. */
  private static final class Transfer {
    private final Host requester;
    private final @Nullable Proxy proxy;
    private final Region source;
    private final Region target;
    private final SourceHold hold;
    private final Peer peer;
    private final RemoteRegion remote;

    Transfer(Host owner, Host requester, @Nullable Proxy proxy) {
      this.requester = requester;
      this.proxy = proxy;
      source = owner.filled(BYTES, 9);
      target = requester.registered(BYTES);
      hold = owner.admitWhole(requester, source);
      peer =
          requester.transport.connect(
              proxy == null ? owner.transport.endpoint() : proxy.endpoint(),
              owner.transport.epoch(),
              new byte[0]);
      remote = peer.importRegion(hold.wireForm());
    }

    Batch batch() {
      return batch(target.id());
    }

    Batch batch(RegionId region) {
      return Batch.from(remote)
          .add(Descriptor.of(region, 0, BYTES), RemoteDescriptor.of(0, 0, BYTES))
          .build();
    }

    Ticket read() {
      return requester.read(peer, batch());
    }

    /** Starts a read and waits until its thread is inside a receive that gets no more. */
    Ticket stallAfter(long payload) {
      if (proxy == null) {
        throw new IllegalStateException("nothing to stall");
      }
      proxy.allow(PREFACE_AND_HEADER + payload);
      Ticket ticket = read();
      Await.until("bytes", () -> requester.context.meter("received_bytes") == payload);
      Await.until("blocked in the kernel", Transfer::readersSleep);
      return ticket;
    }

    /** Whether each reading thread sleeps, as the kernel says. */
    private static boolean readersSleep() {
      try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
        for (Path thread : threads) {
          List<String> status = Files.readAllLines(thread.resolve("status"));
          if (status.get(0).contains("tcp-read") && !status.get(2).contains("S (sleeping)")) {
            return false;
          }
        }
        return true;
      } catch (IOException e) {
        return false;
      }
    }

    void assertTarget(byte value) {
      for (long i = 0; i < BYTES; i++) {
        if (target.memory().get(ValueLayout.JAVA_BYTE, i) != value) {
          throw new AssertionError("a late byte was written at " + i);
        }
      }
    }

    void assertArrived() {
      assertThat(target.memory().mismatch(source.memory())).isEqualTo(-1);
    }
  }
}
