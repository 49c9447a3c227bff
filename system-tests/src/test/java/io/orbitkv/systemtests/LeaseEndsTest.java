package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.api.FaultCode;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Readers;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The right to read ends long before the read could (BB-08). */
class LeaseEndsTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int BLOCKS = 24;
  private static final int BLOCK_BYTES = 1 << 20;
  private static final String POOL_BYTES = Integer.toString(BLOCKS * BLOCK_BYTES);

  @RegisterExtension final Rig rig = new Rig();

  // Guard: GrantAuthority.expire retiring the token, after which Gate.enter lets no READ in; and
  // the source's holds, which the expiry does not end: as long as a send is inside, A publishes
  // over none of them.
  @Test
  void readUnderAnExpiredGrantIsRefusedAndItsBytesAreRight() {
    Rig.ProxiedPair pair =
        rig.proxied(
            "--pool-bytes",
            POOL_BYTES,
            "--max-pinned-bytes-per-peer",
            POOL_BYTES,
            "--grant-lifetime",
            "2s",
            "--retirement-grace",
            "30s");
    ManagerProcess a = pair.a();
    List<Page> pages = Page.of(1, 1, BLOCKS, BLOCK_BYTES).toList();
    QueryOptions patient = QueryOptions.FETCH.withDeadline(Duration.ofSeconds(30));
    try (Engine engine = a.engine()) {
      engine.store(pages);
      // 12 s for all of it.
      pair.data().valve().slowTo(2 << 20);
      // Checks the bytes of whatever comes.
      Readers readers = Readers.start(pair.b().socket(), pages, BLOCKS, patient);
      Await.until("A sends", SOON, () -> pair.data().valve().total() > BLOCK_BYTES);
      pair.data().valve().holdAfter(0);
      Await.until("the grant has expired", SOON, () -> a.status().number("grants.retired") == 1);
      assertThat(a.status().holds("source")).isEqualTo(BLOCKS);
      refuses(engine);
      assertThat(a.status().holds("source")).isEqualTo(BLOCKS);
      pair.data().valve().slowTo(2 << 20);
      Await.until("B is answered", SOON, () -> readers.rounds() > 0);
      pair.data().valve().open();
      readers.close();

      Status after = a.awaitQuiet();
      assertThat(after.number("transport.refusals")).isPositive();
      assertThat(after.number("receipts_source.LOCAL_QUIESCED")).isPositive();
      // It held nobody up: all of the pool is for others now.
      List<Page> fresh = Page.of(3, 1, BLOCKS, BLOCK_BYTES).toList();
      engine.store(fresh);
      assertThat(engine.read(fresh, QueryOptions.LOCAL)).hasSize(BLOCKS);
    }
    pair.b().awaitQuiet();
  }

  /** What is still sent is refused to others, and the engine's own memory can go at any time. */
  private static void refuses(Engine engine) {
    Page page = new Page(2, 0, 1, BLOCK_BYTES);
    try (RegisteredMemory memory = engine.client().allocate(BLOCK_BYTES)) {
      page.fill(memory.segment());
      PublishResult result =
          engine
              .client()
              .publish(
                  List.of(new Piece(page.name(), memory, 0, BLOCK_BYTES)), Duration.ofSeconds(10))
              .getFirst();
      assertThat(result.status()).isEqualTo(PublishResult.Status.FAULT);
      assertThat(result.code()).isEqualTo(FaultCode.EXHAUSTED);
    }
  }
}
