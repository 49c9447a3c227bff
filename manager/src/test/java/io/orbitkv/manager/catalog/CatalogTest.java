package io.orbitkv.manager.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.PageSize;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.memory.Pool;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class CatalogTest {
  private static final long PAGE = PageSize.bytes();
  private final Pool pool = new Pool(3 * PAGE);
  private final Catalog catalog = new Catalog(pool);

  private static BlockName name(String text) {
    return BlockName.of("test", text.getBytes(StandardCharsets.UTF_8));
  }

  private void publish(String text) {
    Hold filling = catalog.reserve(PAGE, "publish");
    assertThat(catalog.seal(name(text), filling)).isTrue();
  }

  @Test
  void theFirstSealOfANameWins() {
    publish("a");
    Hold second = catalog.reserve(PAGE, "publish");
    assertThat(catalog.seal(name("a"), second)).isFalse();
    assertThat(catalog.size()).isEqualTo(1);
    assertThat(pool.usage().free()).as("the second copy was given up").isEqualTo(2 * PAGE);
  }

  // Guard: the first seal wins, and its digest with it; none is added to a block that has none.
  @Test
  void aBlockKeepsTheDigestThatItWasSealedWith() {
    Digest digest = new Digest(1);
    assertThat(catalog.seal(name("a"), catalog.reserve(PAGE, "publish"), digest)).isTrue();
    assertThat(catalog.seal(name("a"), catalog.reserve(PAGE, "publish"), new Digest(2))).isFalse();
    publish("b");
    assertThat(catalog.seal(name("b"), catalog.reserve(PAGE, "publish"), digest)).isFalse();
    for (String text : List.of("a", "b")) {
      Catalog.Pinned pinned = catalog.pin(name(text), HoldKind.SOURCE, "grant").orElseThrow();
      assertThat(pinned.block().digest()).isEqualTo(text.equals("a") ? digest : null);
      pinned.hold().end();
    }
  }

  @Test
  void theLeastRecentlyUsedIsEvictedFirst() {
    publish("a");
    publish("b");
    publish("c");
    catalog.hold(name("a"), HoldKind.LEASE, "session").orElseThrow().end();
    publish("d");
    assertThat(catalog.contains(name("b"))).isFalse();
    assertThat(catalog.contains(name("a"))).isTrue();
    assertThat(catalog.evictions()).isEqualTo(1);
  }

  @Test
  void whatIsHeldIsNotEvicted() {
    publish("a");
    publish("b");
    publish("c");
    List<Hold> holds =
        List.of(
            catalog.hold(name("a"), HoldKind.LEASE, "session").orElseThrow(),
            catalog.hold(name("b"), HoldKind.SOURCE, "grant").orElseThrow(),
            catalog.hold(name("c"), HoldKind.LEASE, "session").orElseThrow());
    // Guard: Catalog.evictOne skips blocks that the pool says are held.
    assertThatThrownBy(() -> catalog.reserve(PAGE, "publish"))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.EXHAUSTED));
    assertThat(catalog.size()).isEqualTo(3);
    holds.get(1).end();
    publish("d");
    assertThat(catalog.contains(name("b"))).isFalse();
  }

  @Test
  void aBlockLargerThanThePoolEvictsNothing() {
    publish("a");
    assertThatThrownBy(() -> catalog.reserve(4 * PAGE, "publish"))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.INVALID));
    assertThat(catalog.contains(name("a"))).isTrue();
  }

  @Test
  void aLeaseOfAProcessThatExitedMeanwhileIsNotGranted() {
    publish("a");
    LeaseTable leases = new LeaseTable(1);
    leases.begin(7);
    Hold hold = catalog.hold(name("a"), HoldKind.LEASE, "session 7").orElseThrow();
    leases.releaseAll(7);
    assertThat(leases.grant(7, List.of(hold))).isEmpty();
    leases.end(7);
    assertThat(pool.usage().holds()).isZero();
  }

  @Test
  void anExpiredLeaseKeepsItsBlocks() {
    publish("a");
    LeaseTable leases = new LeaseTable(0);
    leases.begin(7);
    Hold hold = catalog.hold(name("a"), HoldKind.LEASE, "session 7").orElseThrow();
    LeaseTable.Granted lease = leases.grant(7, List.of(hold)).orElseThrow();
    leases.end(7);
    assertThat(leases.expired()).isEqualTo(1);
    assertThat(pool.usage().holds()).as("time is no evidence").isEqualTo(1);
    assertThatThrownBy(() -> leases.release(8, lease.id()))
        .as("another session's lease")
        .isInstanceOf(TransportException.class);
    leases.release(7, lease.id());
    assertThat(pool.usage().holds()).isZero();
    assertThatThrownBy(() -> leases.release(7, lease.id())).isInstanceOf(TransportException.class);
  }
}
