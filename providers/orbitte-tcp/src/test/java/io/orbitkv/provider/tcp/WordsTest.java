package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The words of a requester arrive, or are not needed any more. */
class WordsTest {
  private static final int BYTES = 64 << 20;

  private static Host owner() {
    return Host.open("source", "sendfile");
  }

  private static int owing(Host requester) {
    return ((TcpTransport) requester.transport).carriers().owing();
  }

  private static Ticket read(Host requester, Peer peer, SourceHold hold, Region target) {
    Batch.Builder batch = Batch.from(peer.importRegion(hold.wireForm()));
    batch.add(
        Descriptor.of(target.id(), 0, target.length()), RemoteDescriptor.of(0, 0, target.length()));
    return requester.read(peer, batch.build());
  }

  private static Peer connect(Host requester, Host owner, Proxy proxy) {
    return requester.transport.connect(
        proxy.endpoint(), owner.transport.epoch(), owner.transport.peerBytes());
  }

  /** A READ whose reply goes by reference, and comes to a halt on its way. */
  private static final class Stalled implements AutoCloseable {
    final Host owner = owner();
    final Proxy proxy = new Proxy(owner.transport);
    final Host requester = Host.open("connections", "1");
    final SourceHold hold = owner.admitWhole(requester, owner.filled(BYTES, 7));
    final Peer peer = connect(requester, owner, proxy);
    final Ticket ticket;

    Stalled() throws IOException {
      proxy.allow(20 << 20);
      ticket = read(requester, peer, hold, requester.registered(BYTES));
      Await.until("a reply", () -> owner.context.meter("referred_bytes") > 0);
      Await.until("stalled", () -> proxy.forwarded() == 20 << 20);
    }

    @Override
    public void close() throws IOException {
      requester.close();
      proxy.close();
      owner.close();
    }
  }

  @Test
  void aClosedPeersWordsAreStillSaid() throws IOException {
    try (Stalled stalled = new Stalled()) {
      stalled.peer.close();
      assertThat(Host.outcome(stalled.ticket)).isInstanceOf(Outcome.Failed.class);
      Await.until("owed", () -> owing(stalled.requester) == 1);
      stalled.hold.revoke();
      // Longer than a try: the first one fails. Guard: the retry in WordCarrier.goesOn; a closed
      // peer had one try, and then the owner kept the block for ever.
      Await.until("a second try", () -> stalled.proxy.accepted() >= 3);
      assertThat(stalled.hold.drain()).isEmpty();
      stalled.proxy.allow(Long.MAX_VALUE);
      assertThat(stalled.owner.spend(stalled.hold)).isEqualTo(Evidence.PEER_RECEIPT);
      Await.until("nothing is owed", () -> owing(stalled.requester) == 0);
    }
  }

  @Test
  void anOwnerThatLeavesInOrderIsOwedNothing() {
    try (Host requester = Host.open("connections", "1")) {
      try (Host owner = owner()) {
        SourceHold hold = owner.admitWhole(requester, owner.filled(BYTES, 7));
        Ticket ticket =
            read(requester, requester.connect(owner), hold, requester.registered(BYTES));
        assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
        assertThat(owner.context.meter("referred_bytes")).isEqualTo(BYTES);
        hold.revoke();
        assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
      }
      Await.until("down", () -> requester.context.meter("outgoing_connections") == 0);
      Await.until("counted", () -> requester.context.meter("connection_failures") == 1);
      // Guard: OwnerConnection's END where its service is closed, or ownerEnded in ReplyReader: the
      // last word would be owed to nobody.
      assertThat(owing(requester)).isZero();
    }
  }

  @Test
  @Tag("slow")
  void anOwnerThatIsGoneIsOwedNothingInTheEnd() throws IOException {
    try (Host owner = owner();
        Proxy proxy = new Proxy(owner.transport);
        Host requester = Host.open("connections", "1")) {
      SourceHold hold = owner.admitWhole(requester, owner.filled(BYTES, 7));
      Peer peer = connect(requester, owner, proxy);
      Ticket ticket = read(requester, peer, hold, requester.registered(BYTES));
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      proxy.leave();
      Await.until("owed", () -> owing(requester) == 1);
      // Guard: MOST_REFUSALS in WordCarrier.goesOn.
      Await.until("given up", TimeUnit.SECONDS.toNanos(180), () -> owing(requester) == 0);
      hold.revoke();
      assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
    }
  }

  // Guard: WordCarrier.acknowledged; the end of the connection would be taken for an answer, and
  // the owner keep the block for ever.
  @Test
  void aWordIsTakenWhenTheOwnerSaysSo() throws IOException {
    try (Stalled stalled = new Stalled()) {
      stalled.proxy.loseWords();
      stalled.proxy.cut();
      stalled.proxy.allow(Long.MAX_VALUE);
      assertThat(Host.outcome(stalled.ticket)).isInstanceOf(Outcome.Failed.class);
      stalled.hold.revoke();
      assertThat(stalled.owner.spend(stalled.hold)).isEqualTo(Evidence.PEER_RECEIPT);
      Await.until("nothing is owed", () -> owing(stalled.requester) == 0);
    }
  }

  @Test
  void wordsWaitForAThread() throws IOException {
    try (Stalled stalled = new Stalled()) {
      AtomicInteger refused = new AtomicInteger(2);
      stalled.requester.context.refused.put("words", refused);
      stalled.proxy.cut();
      stalled.proxy.allow(Long.MAX_VALUE);
      assertThat(Host.outcome(stalled.ticket)).isInstanceOf(Outcome.Failed.class);
      stalled.hold.revoke();
      // Guard: engine.after in WordCarrier.start, where no thread could be started.
      assertThat(stalled.owner.spend(stalled.hold)).isEqualTo(Evidence.PEER_RECEIPT);
      assertThat(refused).hasNegativeValue();
    }
  }

  @Test
  void wordsAreOwedWhereThereIsNoThreadForTheNextConnection() throws IOException {
    try (Stalled stalled = new Stalled()) {
      stalled.requester.context.refused.put("read", new AtomicInteger(1));
      stalled.proxy.cut();
      stalled.proxy.allow(Long.MAX_VALUE);
      assertThat(Host.outcome(stalled.ticket)).isInstanceOf(Outcome.Failed.class);
      stalled.hold.revoke();
      // Guard: the place of words.owe in Lane.down, before peer.down, which throws here.
      assertThat(stalled.owner.spend(stalled.hold)).isEqualTo(Evidence.PEER_RECEIPT);
    }
  }

  @Test
  void aReplyThatAnotherConnectionSpeaksOfIsReset() throws IOException {
    try (Host owner = owner()) {
      Epoch self = Epoch.random();
      Region source = owner.filled(8 << 20, 7);
      SourceHold hold = owner.admit(self, Descriptor.of(source.id(), 0, source.length()));
      try (RawRequester first = RawRequester.saying(owner, self, 0);
          RawRequester second = RawRequester.saying(owner, self, 0)) {
        first.send(RawRequester.read(1, hold, 0, 0, 8 << 20));
        var _ = first.reply();
        hold.revoke();
        second.send(RawRequester.word(1, hold));
        assertThat(owner.spend(hold)).isEqualTo(Evidence.PEER_RECEIPT);
        // Guard: stream.reset in OwnerConnection.dropReferences; a close alone sends what the
        // kernel still has, from pages that are another's by then.
        assertThatThrownBy(() -> first.in.readFully(new byte[8 << 20]))
            .isInstanceOf(SocketException.class)
            .hasMessageContaining("reset");
      }
    }
  }

  /** Owes a word to an owner that trickles the preface of the connection that is to bring it. */
  @Test
  void aTricklingOwnerDoesNotHoldTheCloseUp() throws Exception {
    Epoch epoch = Epoch.random();
    CountDownLatch trickles = new CountDownLatch(1);
    try (ServerSocket listener = new ServerSocket(0, 8, InetAddress.ofLiteral("127.0.0.1"))) {
      Host requester = Host.open("connections", "1");
      Thread owner = new Thread(() -> trickle(listener, requester, epoch, trickles));
      owner.setDaemon(true);
      owner.start();
      Peer peer =
          requester.transport.connect(
              URI.create("orbitte+tcp://127.0.0.1:" + listener.getLocalPort()), epoch, new byte[0]);
      Region target = requester.registered(100);
      Epoch self = requester.transport.epoch();
      Ticket ticket =
          requester.read(
              peer,
              Batch.from(peer.importRegion(HostileOwnerTest.wireForm(epoch, self, 100)))
                  .add(Descriptor.of(target.id(), 0, 100), RemoteDescriptor.of(0, 0, 100))
                  .build());
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      assertThat(trickles.await(20, TimeUnit.SECONDS)).isTrue();
      long begin = System.nanoTime();
      requester.close();
      // Guard: cut in Engine.join; each byte would have a timeout of its own.
      assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(8));
      owner.interrupt();
    }
  }

  private static void trickle(
      ServerSocket listener, Host requester, Epoch epoch, CountDownLatch trickles) {
    byte[] preface =
        RawRequester.preface(RawRequester.MAGIC, 1, 0, epoch, requester.transport.epoch());
    preface[23] = 3;
    try {
      try (Socket lane = listener.accept()) {
        InputStream in = lane.getInputStream();
        var _ = in.readNBytes(64);
        lane.getOutputStream().write(preface);
        ByteBuffer read = ByteBuffer.wrap(in.readNBytes(80));
        ByteBuffer reply = ByteBuffer.allocate(140);
        reply.put(0, (byte) 2).put(1, (byte) 1).putLong(8, read.getLong(8));
        reply.putLong(16, epoch.high()).putLong(24, epoch.low()).putLong(32, 100);
        lane.getOutputStream().write(reply.array());
        var _ = in.readNBytes(48);
      }
      while (true) {
        try (Socket words = listener.accept()) {
          trickles.countDown();
          for (byte each : preface) {
            words.getOutputStream().write(each);
            TimeUnit.MILLISECONDS.sleep(500);
          }
        } catch (SocketException e) {
          // The requester has given it up, or the listener is closed.
          if (listener.isClosed()) {
            return;
          }
        }
      }
    } catch (IOException | InterruptedException e) {
      // The test is over.
    }
  }
}
