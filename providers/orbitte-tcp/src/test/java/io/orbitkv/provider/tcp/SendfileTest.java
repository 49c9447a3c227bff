package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A source that sends by reference: only the requester's word ends its hold. */
class SendfileTest {
  private static final int BYTES = 256 << 10;
  private static final byte OLD_USE = (byte) 0x11;
  private static final byte NEW_USE = (byte) 0xEE;

  /** How long a receipt that must not come is asked for. */
  private static final long WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  private final Epoch self = Epoch.random();

  private static Host owner(String... more) {
    String[] options = new String[more.length + 2];
    options[0] = "source";
    options[1] = "sendfile";
    System.arraycopy(more, 0, options, 2, more.length);
    return Host.open(options);
  }

  private SourceHold admit(Host owner, Region region) {
    return owner.admit(self, Descriptor.of(region.id(), 0, region.length()));
  }

  private static Region filled(Host owner, int bytes) {
    Region region = owner.registered(bytes);
    region.memory().fill(OLD_USE);
    return region;
  }

  private static void assertHeld(SourceHold hold) {
    long until = System.nanoTime() + WATCH_NANOS;
    while (System.nanoTime() < until) {
      assertThat(hold.drain()).isEmpty();
      Thread.onSpinWait();
    }
  }

  private static void awaitServed(Host owner, long count) {
    Await.until(count + " served", () -> owner.context.meter("served") == count);
  }

  @Test
  void frozenRequesterKeepsTheSourceAndItsBytesAreTheSourcesOwn() throws IOException {
    // So little that the kernels take all of it.
    int bytes = 16 << 10;
    try (Host owner = owner("sendfile-least", "4096")) {
      Region region = filled(owner, bytes);
      SourceHold hold = admit(owner, region);
      try (RawRequester frozen = RawRequester.saying(owner, self, 0)) {
        frozen.send(RawRequester.read(1, hold, 0, 0, bytes));
        awaitServed(owner, 1);
        hold.revoke();
        // Guard: references.ended in TcpSourceHold.drained.
        assertHeld(hold);
        region.memory().fill(NEW_USE);
        assertThat(frozen.reply().flags()).isEqualTo(1);
        // What a reuse would have sent: that is why the call's return proves nothing.
        assertThat(frozen.in.readNBytes(bytes)).containsOnly(NEW_USE);
        assertThat(owner.context.meter("sendfile_pinned_bytes")).isEqualTo(bytes);
        assertHeld(hold);
        frozen.send(RawRequester.word(1, hold));
        assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
        assertThat(owner.context.meter("sendfile_pinned_bytes")).isZero();
      }
    }
  }

  @Test
  void deadRequesterLeavesTheSourceInQuarantine() throws IOException {
    Host owner = owner();
    Region region = filled(owner, BYTES);
    SourceHold hold = admit(owner, region);
    try (RawRequester killed = RawRequester.saying(owner, self, 0)) {
      killed.send(RawRequester.read(1, hold, 0, 0, BYTES));
      var _ = killed.reply();
    }
    Await.until("its end", () -> owner.context.meter("incoming_connections") == 0);
    hold.revoke();
    // Guard: said in SourceReferences.Reference.ended; a closed connection alone would do.
    assertHeld(hold);
    assertThat(owner.transport.closeSource(System.nanoTime() + WATCH_NANOS)).isEmpty();
    assertThatThrownBy(owner.transport::close)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.IN_USE));
    // Late evidence is evidence; of a requester of this epoch it can only be the same one.
    try (RawRequester late =
        RawRequester.saying(owner, self, Wire.FEATURE_WORDS | Wire.FEATURE_ONLY_WORDS)) {
      late.send(RawRequester.word(1, hold));
      assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
    }
    owner.close();
  }

  @Test
  void everyReadUnderTheGrantNeedsItsWord() throws IOException {
    try (Host owner = owner()) {
      SourceHold hold = admit(owner, filled(owner, BYTES));
      try (RawRequester requester = RawRequester.saying(owner, self, 0)) {
        for (int id = 1; id <= 2; id++) {
          requester.send(RawRequester.read(id, hold, 0, 0, BYTES));
          var _ = requester.reply();
          var _ = requester.in.readNBytes(BYTES);
        }
        awaitServed(owner, 2);
        hold.revoke();
        requester.send(RawRequester.word(2, hold));
        // Guard: the map of SourceReferences; one word would end both.
        assertHeld(hold);
        requester.send(RawRequester.word(1, hold));
        assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
      }
    }
  }

  @Test
  void wordByAnotherConnectionCountsOnceThisEndIsReset() throws IOException {
    try (Host owner = owner()) {
      SourceHold hold = admit(owner, filled(owner, 8 << 20));
      try (RawRequester first = RawRequester.saying(owner, self, 0);
          RawRequester second = RawRequester.saying(owner, self, 0)) {
        first.send(RawRequester.read(1, hold, 0, 0, 8 << 20));
        var _ = first.reply();
        hold.revoke();
        second.send(RawRequester.word(1, hold));
        // Guard: left.connection.shutdown in SourceReferences.said; its end stays stuck in
        // sendfile.
        assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
        assertThatThrownBy(() -> first.in.readFully(new byte[8 << 20]))
            .isInstanceOf(IOException.class);
      }
    }
  }

  @Test
  void wordAheadOfItsReadLetsNothingBeReferredTo() throws IOException {
    try (Host owner = owner()) {
      SourceHold hold = admit(owner, filled(owner, BYTES));
      try (RawRequester requester = RawRequester.saying(owner, self, 0)) {
        requester.send(RawRequester.word(1, hold));
        requester.send(RawRequester.read(1, hold, 0, 0, BYTES));
        // Guard: early in SourceReferences.add; the reply would go by reference.
        assertThat(requester.reply().flags()).isZero();
        var _ = requester.in.readNBytes(BYTES);
        hold.revoke();
        assertThat(owner.spend(hold)).isEqualTo(Evidence.LOCAL_QUIESCED);
      }
    }
  }

  @Test
  void wordOfAnotherIsRefusedAndEndsNothing() throws IOException {
    try (Host owner = owner()) {
      SourceHold hold = admit(owner, filled(owner, BYTES));
      try (RawRequester requester = RawRequester.saying(owner, self, 0)) {
        requester.send(RawRequester.read(1, hold, 0, 0, BYTES));
        var _ = requester.reply();
        hold.revoke();
        ByteBuffer forged = RawRequester.word(1, hold).putLong(32, 0);
        assertWordRefused(owner, self, forged);
        // Guard: belongsTo in OwnerConnection.heed, the token above and the epoch here.
        assertWordRefused(owner, Epoch.random(), RawRequester.word(1, hold));
        assertHeld(hold);
        requester.send(RawRequester.word(1, hold));
        assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
      }
    }
  }

  private static void assertWordRefused(Host owner, Epoch epoch, ByteBuffer word)
      throws IOException {
    try (RawRequester other = RawRequester.saying(owner, epoch, 0)) {
      other.send(word);
      RawRequester.Reply end = other.reply();
      assertThat(end.kind()).isEqualTo(4);
      assertThat(end.fault()).isEqualTo(FaultCode.DENIED.wire());
    }
  }

  @Test
  void whatIsBeyondTheBoundIsCopied() throws IOException {
    try (Host owner = owner("sendfile-bytes", String.valueOf(BYTES))) {
      SourceHold first = admit(owner, filled(owner, BYTES));
      SourceHold second = admit(owner, filled(owner, BYTES));
      try (RawRequester requester = RawRequester.saying(owner, self, 0)) {
        requester.send(RawRequester.read(1, first, 0, 0, BYTES));
        assertThat(requester.reply().flags()).isEqualTo(1);
        var _ = requester.in.readNBytes(BYTES);
        requester.send(RawRequester.read(2, second, 0, 0, BYTES));
        // Guard: ReferenceBudget.take.
        assertThat(requester.reply().flags()).isZero();
        var _ = requester.in.readNBytes(BYTES);
        second.revoke();
        assertThat(owner.spend(second)).isEqualTo(Evidence.LOCAL_QUIESCED);
        requester.send(RawRequester.word(1, first));
        requester.send(RawRequester.read(3, first, 0, 0, BYTES));
        assertThat(requester.reply().flags()).isEqualTo(1);
        var _ = requester.in.readNBytes(BYTES);
        requester.send(RawRequester.word(3, first));
        first.revoke();
        assertThat(owner.spend(first)).isEqualTo(Evidence.PEER_RECEIPT);
      }
    }
  }

  @Test
  void requesterThatSaysNoWordsIsSentACopy() throws IOException {
    try (Host owner = owner()) {
      SourceHold hold = admit(owner, filled(owner, BYTES));
      try (RawRequester old = RawRequester.greeted(owner, self)) {
        old.send(RawRequester.read(1, hold, 0, 0, BYTES));
        assertThat(old.reply().flags()).isZero();
        var _ = old.in.readNBytes(BYTES);
        awaitServed(owner, 1);
        hold.revoke();
        assertThat(owner.spend(hold)).isEqualTo(Evidence.LOCAL_QUIESCED);
      }
    }
  }

  @Test
  void shortPiecesAreCopied() throws IOException {
    try (Host owner = owner()) {
      SourceHold hold = admit(owner, filled(owner, BYTES));
      try (RawRequester requester = RawRequester.saying(owner, self, 0)) {
        requester.send(RawRequester.read(1, hold, 0, 0, (128 << 10) - 1));
        assertThat(requester.reply().flags()).isZero();
        var _ = requester.in.readNBytes((128 << 10) - 1);
        requester.send(RawRequester.read(2, hold, 0, 0, 128 << 10));
        assertThat(requester.reply().flags()).isEqualTo(1);
        var _ = requester.in.readNBytes(128 << 10);
        requester.send(RawRequester.word(2, hold));
        hold.revoke();
        assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
      }
    }
  }

  @Test
  void onlyWordsMayComeWhereOnlyWordsWereAnnounced() throws IOException {
    try (Host owner = owner()) {
      SourceHold hold = admit(owner, filled(owner, BYTES));
      try (RawRequester words =
          RawRequester.saying(owner, self, Wire.FEATURE_WORDS | Wire.FEATURE_ONLY_WORDS)) {
        words.send(RawRequester.read(1, hold, 0, 0, BYTES));
        RawRequester.Reply end = words.reply();
        assertThat(end.kind()).isEqualTo(4);
        assertThat(end.fault()).isEqualTo(FaultCode.INVALID.wire());
      }
    }
  }

  private static Ticket read(Host requester, Peer peer, SourceHold hold, Region target) {
    Batch.Builder batch = Batch.from(peer.importRegion(hold.wireForm()));
    batch.add(
        Descriptor.of(target.id(), 0, target.length()), RemoteDescriptor.of(0, 0, target.length()));
    return requester.read(peer, batch.build());
  }

  @Test
  void completedReadBringsItsWordWithoutAnotherRead() {
    try (Host owner = owner();
        Host requester = Host.open()) {
      Region source = owner.filled(64 << 20, 7);
      Region target = requester.registered(64 << 20);
      SourceHold hold = owner.admitWhole(requester, source);
      Peer peer = requester.connect(owner);
      Ticket ticket = read(requester, peer, hold, target);
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      assertThat(target.memory().mismatch(source.memory())).isEqualTo(-1);
      // The kit's sendfile run is no copy in disguise.
      assertThat(owner.context.meter("referred_bytes")).isEqualTo(64 << 20);
      hold.revoke();
      // Guard: lane.sayWords in ReplyReader; the last word waits for a READ to come.
      assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
    }
  }

  @Test
  void cancelledReadIsReadToItsEndAndSaysSo() {
    try (Host owner = owner();
        Host requester = Host.open()) {
      Region source = owner.filled(32 << 20, 7);
      Region target = requester.registered(32 << 20);
      for (int round = 0; round < 10; round++) {
        SourceHold hold = owner.admitWhole(requester, source);
        Peer peer = requester.connect(owner);
        Ticket ticket = read(requester, peer, hold, target);
        ticket.cancel();
        // A thread may be inside of its destination.
        var _ = Host.outcome(ticket);
        assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
        hold.revoke();
        assertThat(owner.spend(hold)).isIn(Evidence.PEER_RECEIPT, Evidence.LOCAL_QUIESCED);
        peer.close();
      }
    }
  }

  @Test
  void brokenConnectionIsToldByAnother() throws IOException {
    try (Host owner = owner();
        Proxy proxy = new Proxy(owner.transport);
        Host requester = Host.open("connections", "1")) {
      Region source = owner.filled(64 << 20, 7);
      Region target = requester.registered(64 << 20);
      SourceHold hold = owner.admitWhole(requester, source);
      Peer peer =
          requester.transport.connect(proxy.endpoint(), owner.transport.epoch(), new byte[0]);
      proxy.allow(20 << 20);
      Ticket ticket = read(requester, peer, hold, target);
      Await.until("a reply", () -> owner.context.meter("served") > 0);
      proxy.cut();
      proxy.allow(Long.MAX_VALUE);
      assertThat(Host.outcome(ticket)).isInstanceOf(Outcome.Failed.class);
      hold.revoke();
      // Guard: words.owe in Lane.down; nobody reads here any more.
      assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
    }
  }

  @Test
  void peerThatIsClosedSaysItsWordsFirst() {
    try (Host owner = owner()) {
      Region source = owner.filled(64 << 20, 7);
      SourceHold hold;
      try (Host requester = Host.open()) {
        Region target = requester.registered(64 << 20);
        hold = owner.admitWhole(requester, source);
        Ticket ticket = read(requester, requester.connect(owner), hold, target);
        Await.until("a byte", () -> requester.context.meter("received_bytes") > 0);
        ticket.cancel();
        // Guard: words.owe in Lane.down.
      }
      List<DrainReceipt> receipts =
          owner.transport.closeSource(System.nanoTime() + TimeUnit.SECONDS.toNanos(20));
      assertThat(receipts).extracting(DrainReceipt::subject).containsExactly(hold.grant());
      owner.context.receipts().spend(receipts.get(0), hold.grant());
    }
  }
}
