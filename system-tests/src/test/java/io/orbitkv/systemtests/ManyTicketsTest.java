package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.Rig;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A block that is read by hundreds of tickets under one grant. */
class ManyTicketsTest {
  private static final int BLOCK_BYTES = 60 << 20;

  @RegisterExtension final Rig rig = new Rig();

  // Each ticket reports its end to the part, in the thread that cancelled it: the part cancels
  // once,
  // or the cancels nest. Whatever fails on the way, DestinationDrain still watches every ticket.
  @Test
  void endsAsAMissAtTheDeadlineAndGivesEverythingBack() {
    Rig.ProxiedPair pair =
        rig.proxied(
            "--pool-bytes",
            "64MiB",
            "--max-pinned-bytes-per-peer",
            "64MiB",
            "--max-read-bytes",
            "64KiB",
            "--retirement-grace",
            "1s");
    List<Page> block = Page.of(1, 1, 1, BLOCK_BYTES).toList();
    try (Engine owner = pair.a().engine();
        Engine reader = pair.b().engine()) {
      owner.store(block);
      pair.data().valve().slowTo(4 << 20);
      var query = QueryOptions.FETCH.withDeadline(Duration.ofMillis(1500));
      assertThat(reader.read(block, query)).isEmpty();
      assertThat(pair.b().log()).doesNotContain("StackOverflowError");
      pair.data().valve().open();
      pair.b().awaitQuiet();
      pair.a().awaitQuiet();
      assertThat(reader.read(block, QueryOptions.FETCH)).hasSize(1);
      assertThat(pair.b().status().number("tickets.submitted")).isGreaterThan(960);
      pair.b().awaitQuiet();
    }
  }
}
