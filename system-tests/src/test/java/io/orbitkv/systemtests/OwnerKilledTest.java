package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.RawRequester;
import io.orbitkv.systemtests.rig.Readers;
import io.orbitkv.systemtests.rig.Rig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** SIGKILL of the Manager that blocks are read from. */
class OwnerKilledTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @RegisterExtension final Rig rig = new Rig();

  // Guard: FetchOperation.await turning a lost peer into a miss; TcpTicket giving its receipt when
  // the connection breaks, without the peer.
  @Test
  void readsGoOnAsMissesAndAgainAfterItsReturn() throws IOException {
    ManagerProcess a = rig.manager("a", "--pool-bytes", "256MiB");
    String[] same = {
      "--pool-bytes",
      "256MiB",
      "--port",
      Integer.toString(a.controlPort()),
      "--orbitte-tcp-listen",
      text(a.data())
    };
    // Smaller than what is read, so that B has to ask A again in every round.
    ManagerProcess b = rig.manager("b", "--pool-bytes", "32MiB", "--peers", a.control());
    b.awaitPeer(a);
    Epoch before = Epoch.parse(a.status().text("manager.transport_epoch"));
    List<Page> pages = Page.of(1, 1, 96, 1 << 20).toList();
    try (Engine engine = a.engine()) {
      engine.store(pages);
    }
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(5));
    try (Readers readers = Readers.start(b.socket(), pages, 8, options)) {
      Await.until("B has read from A", SOON, () -> readers.hits() > 100);
      a.kill();
      int answered = readers.rounds();
      Await.until(
          "B answers misses",
          SOON,
          () -> readers.rounds() > answered + 12 && readers.missesInARow() > 0);
    }
    // By B's own evidence alone: A will never say anything again.
    b.awaitQuiet();
    assertThat(b.alive()).isTrue();

    ManagerProcess again = rig.manager("a", same);
    assertThat(again.data()).isEqualTo(a.data());
    b.awaitPeer(again);
    List<Page> fresh = Page.of(2, 1, 8, 1 << 20).toList();
    try (Engine engine = again.engine();
        Engine reader = b.engine()) {
      engine.store(fresh);
      assertThat(reader.read(fresh, options)).hasSize(8).containsValue(Origin.PEER);
    }
    b.awaitQuiet();
    again.awaitQuiet();
    // Guard: OwnerConnection.accept comparing the expected epoch with its own.
    try (RawRequester old = RawRequester.connect(again.data())) {
      old.hello(Epoch.random(), before);
      assertThat(old.refusal()).isEqualTo(FaultCode.STALE_EPOCH);
      assertThat(old.restOfStream()).isEmpty();
    }
  }

  // Guard: PartRead.abandon cancelling the tickets after the query's deadline. The proxy keeps the
  // payload connection open and silent for ever, so that only B itself can end its half; the
  // progress timeout is too long to do it.
  @Test
  void aReadThatHangsWhenItDiesIsEndedByTheReaderAlone() {
    Rig.ProxiedPair pair =
        rig.proxied("--retirement-grace", "1s", "--transfer-progress-timeout", "120s");
    List<Page> pages = Page.of(1, 1, 16, 1 << 20).toList();
    try (Engine engine = pair.a().engine()) {
      engine.store(pages);
    }
    pair.data().valve().holdAfter(3 << 20);
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(3));
    try (Readers readers = Readers.start(pair.b().socket(), pages, 16, options)) {
      Await.until("the payload hangs", SOON, () -> pair.data().valve().total() >= 3 << 20);
      pair.a().kill();
      Await.until("B answers", SOON, () -> readers.rounds() > 0);
    }
    pair.b().awaitQuiet();
    assertThat(pair.b().status().number("receipts_destination.LOCAL_QUIESCED")).isPositive();
    try (Engine engine = pair.b().engine()) {
      List<Page> mine = Page.of(3, 1, 128, 1 << 20).toList();
      engine.store(mine);
      assertThat(engine.read(mine, QueryOptions.LOCAL)).hasSize(128);
    }
  }

  private static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }
}
