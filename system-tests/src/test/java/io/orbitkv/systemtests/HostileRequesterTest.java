package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.manager.control.proto.Offer;
import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Engine;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.MemoryUse;
import io.orbitkv.systemtests.rig.Page;
import io.orbitkv.systemtests.rig.ProcessUse;
import io.orbitkv.systemtests.rig.RawControl;
import io.orbitkv.systemtests.rig.RawRequester;
import io.orbitkv.systemtests.rig.RawRequester.Reply;
import io.orbitkv.systemtests.rig.Rig;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A requester that does not keep to what it was granted (BB-09, BB-10). */
class HostileRequesterTest {
  private static final int BYTES = 256 << 10;
  private static final int FIRST_ROUNDS = 50;
  private static final int ROUNDS = 500;

  /** Of 1,500 connections in a few seconds, 2.5 KiB each. */
  private static final long HEAP_SLACK = 4 << 20;

  /** As above; compiled code and its data grow as well. */
  private static final long NATIVE_SLACK = 6 << 20;

  /** Pages of the heap that are touched for the first time. */
  private static final long RESIDENT_SLACK = 24 << 20;

  @RegisterExtension final Rig rig = new Rig();

  // Guard: TcpSourceHold.enter comparing the requester, and GrantTable forgetting what has ended.
  @Test
  void grantIsGoodForItsRequesterAndUntilItsEndOnly() throws IOException {
    ManagerProcess a =
        rig.manager("a", "--pool-bytes", "2MiB", "--max-pinned-bytes-per-peer", "2MiB");
    Page page = new Page(1, 0, 1, BYTES);
    try (Engine engine = a.engine();
        RawControl control = RawControl.connect(a)) {
      engine.store(List.of(page));
      Offer offer = control.authorize(List.of(page));
      try (RawRequester own = greeted(a, control.transportEpoch());
          RawRequester other = greeted(a, Epoch.random())) {
        own.read(offer, 0, BYTES);
        Reply right = own.reply();
        assertThat(right.kind()).isEqualTo(Reply.DATA);
        assertThat(page.firstWrongByte(right.payload())).isEqualTo(-1);

        other.read(offer, 0, BYTES);
        refused(other.reply(), FaultCode.DENIED);

        own.read(offer, 1, BYTES);
        refused(own.reply(), FaultCode.INVALID);

        control.complete(offer);
        Await.until(
            "the grant has its receipt",
            Duration.ofSeconds(10),
            () -> a.status().number("receipts_source.LOCAL_QUIESCED") == 1);
        own.read(offer, 0, BYTES);
        refused(own.reply(), FaultCode.GRANT_ENDED);

        // The memory has other bytes now, and another generation.
        engine.store(Page.of(2, 1, 8, BYTES).toList());
        own.read(offer, 0, BYTES);
        refused(own.reply(), FaultCode.GRANT_ENDED);
      }
    }
    a.awaitQuiet();
  }

  // Guard: the checked sums of ReadFrame. An offset that wraps must not become an address.
  @Test
  void rangesThatOverflowEndTheConnection() throws IOException {
    ManagerProcess a = rig.manager("a");
    Page page = new Page(1, 0, 1, BYTES);
    try (Engine engine = a.engine();
        RawControl control = RawControl.connect(a)) {
      engine.store(List.of(page));
      Offer offer = control.authorize(List.of(page));
      for (long offset : new long[] {Long.MAX_VALUE - 1, -1, Long.MIN_VALUE}) {
        try (RawRequester hostile = greeted(a, control.transportEpoch())) {
          hostile.read(offer, offset, BYTES);
          Reply reply = hostile.reply();
          assertThat(reply.kind()).isEqualTo(Reply.END);
          assertThat(reply.fault()).isEqualTo(FaultCode.INVALID);
          assertThat(hostile.restOfStream()).isEmpty();
        }
      }
      try (RawRequester hostile = greeted(a, control.transportEpoch())) {
        hostile.read(offer, 1L << 62, BYTES);
        refused(hostile.reply(), FaultCode.INVALID);
        // The connection and the grant are as good as before.
        hostile.read(offer, 0, 4096);
        assertThat(hostile.reply().payload().byteSize()).isEqualTo(4096);
      }
      assertThat(a.status().number("grants.active")).isEqualTo(1);
    }
    // The control stream is gone: so is the grant, by A's own evidence.
    a.awaitQuiet();
  }

  // Guard: OwnerConnection.endLater, by which the timer keeps a stream and not the connection: with
  // "this" in its place a flood of them was 50 MB of heap. OwnerConnection.run closing its arena:
  // without it each connection leaves the buffer of its frames.
  @Test
  void memoryIsFlatWhateverIsAskedFor() throws IOException {
    ManagerProcess a = rig.manager("a");
    Page page = new Page(1, 0, 1, BYTES);
    try (Engine engine = a.engine();
        RawControl control = RawControl.connect(a)) {
      engine.store(List.of(page));
      Offer offer = control.authorize(List.of(page));
      ask(a, control, offer, FIRST_ROUNDS);
      // The look at its state first, whose session is among its files.
      assertThat(a.status().number("grants.active")).isEqualTo(1);
      ProcessUse before = a.use();
      long firstHeap = a.memory().heapBytes();
      ask(a, control, offer, ROUNDS);
      MemoryUse first = a.memory();
      List<MemoryUse> later = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        ask(a, control, offer, ROUNDS);
        later.add(a.memory());
      }
      System.out.println("heap " + firstHeap + ", after the warm-up " + first + ", then " + later);
      Await.until(
          "no connection is left of them",
          Duration.ofSeconds(10),
          () -> a.status().number("transport.incoming_connections") == 0);
      for (MemoryUse use : later) {
        assertThat(use.heapBytes()).as("heap").isLessThan(firstHeap + HEAP_SLACK);
        assertThat(use.nativeBytes()).as("native").isLessThan(first.nativeBytes() + NATIVE_SLACK);
        assertThat(use.residentBytes())
            .as("resident")
            .isLessThan(first.residentBytes() + RESIDENT_SLACK);
      }
      assertThat(a.status().number("transport.sent_bytes")).isZero();
      Await.until(
          "its files and threads are those of before",
          Duration.ofSeconds(20),
          () -> a.use().beyond(before).isEmpty(),
          () -> a.use().beyond(before).toString());
      assertThat(a.use().offHeapBytes()).isLessThan(before.offHeapBytes() + HEAP_SLACK);
    }
    a.awaitQuiet();
  }

  /** In each round three connections, two of which the owner ends, and nine requests. */
  private static void ask(ManagerProcess a, RawControl control, Offer offer, int rounds)
      throws IOException {
    Offer unknown = named(offer, offer.getGrant().getId() + 1_000, 1);
    Offer stale = named(offer, offer.getGrant().getId(), offer.getGrant().getGeneration() - 1);
    for (int i = 0; i < rounds; i++) {
      try (RawRequester late = RawRequester.connect(a.data())) {
        late.hello(control.transportEpoch(), Epoch.random());
        assertThat(late.refusal()).isEqualTo(FaultCode.STALE_EPOCH);
        assertThat(late.restOfStream()).isEmpty();
      }
      try (RawRequester other = RawRequester.greeted(a.data(), Epoch.random(), control.owner())) {
        other.read(offer, 0, BYTES);
        refused(other.reply(), FaultCode.DENIED);
      }
      try (RawRequester hostile =
          RawRequester.greeted(a.data(), control.transportEpoch(), control.owner())) {
        hostile.read(unknown, 0, BYTES);
        refused(hostile.reply(), FaultCode.NOT_FOUND);
        hostile.read(stale, 0, BYTES);
        refused(hostile.reply(), FaultCode.STALE_GENERATION);
        for (long offset : new long[] {1, BYTES, 1L << 62}) {
          hostile.read(offer, offset, BYTES);
          refused(hostile.reply(), FaultCode.INVALID);
        }
        hostile.read(offer, Long.MAX_VALUE - 1, BYTES);
        assertThat(hostile.reply().kind()).isEqualTo(Reply.END);
        assertThat(hostile.restOfStream()).isEmpty();
      }
    }
  }

  private static Offer named(Offer offer, long id, long generation) {
    return offer.toBuilder()
        .setGrant(offer.getGrant().toBuilder().setId(id).setGeneration(generation))
        .build();
  }

  private static RawRequester greeted(ManagerProcess owner, Epoch self) throws IOException {
    RawRequester requester = RawRequester.connect(owner.data());
    requester.hello(self, Epoch.parse(owner.status().text("manager.transport_epoch")));
    requester.accepted();
    return requester;
  }

  private static void refused(Reply reply, FaultCode code) {
    assertThat(reply.kind()).isEqualTo(Reply.REFUSED);
    assertThat(reply.fault()).isEqualTo(code);
    assertThat(reply.payload().byteSize()).isZero();
  }
}
