package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes arrive, in every shape, and nothing else is touched. */
class TransferTest {
  private static final byte UNTOUCHED = 0x55;

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 7, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1, 12_345_678, 64 << 20})
  void oneRange(long bytes) {
    try (Host owner = Host.open();
        Host requester = Host.open()) {
      Region source = owner.filled(bytes + 128, bytes);
      Region target = requester.registered(bytes + 128);
      target.memory().fill(UNTOUCHED);
      Peer peer = requester.connect(owner);
      RemoteRegion remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      Ticket ticket =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(Descriptor.of(target.id(), 64, bytes), RemoteDescriptor.of(0, 32, bytes))
                  .build());
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
      assertThat(ticket.drain()).isEmpty();
      assertThat(target.memory().asSlice(64, bytes).mismatch(source.memory().asSlice(32, bytes)))
          .isEqualTo(-1);
      assertUntouched(target.memory().asSlice(0, 64));
      assertUntouched(target.memory().asSlice(64 + bytes));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1"})
  void addressFamilies(String host) {
    try (Host owner = new Host(context(host));
        Host requester = new Host(context(host))) {
      String endpoint = owner.transport.endpoint().toString();
      assertThat(endpoint)
          .startsWith(host.equals("::1") ? "orbitte+tcp://[::1]:" : "orbitte+tcp://127.0.0.1:");
      copyBlocks(owner, requester, 10, 4_096, 1);
    }
  }

  @Test
  void thousandScatteredShuffledBlocks() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    try (Host owner = Host.open();
        Host requester = Host.open()) {
      copyBlocks(owner, requester, 1_000, 4_096, seed);
      copyBlocks(owner, requester, 1_000, 513, seed + 1);
      copyBlocks(owner, requester, 16_000, 16, seed + 2);
    }
  }

  /** Blocks in another order on each side, as separate descriptors with gaps. */
  private static void copyBlocks(Host owner, Host requester, int blocks, int bytes, long seed) {
    long pitch = bytes + 32L;
    Region source = owner.filled(blocks * pitch, seed);
    Region target = requester.registered(blocks * pitch);
    target.memory().fill(UNTOUCHED);
    Peer peer = requester.connect(owner);
    RemoteRegion remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
    List<Integer> from = shuffled(blocks, new Random(seed));
    List<Integer> to = shuffled(blocks, new Random(seed + 1));
    Batch.Builder batch = Batch.from(remote);
    for (int i = 0; i < blocks; i++) {
      batch.add(
          Descriptor.of(target.id(), to.get(i) * pitch, bytes),
          RemoteDescriptor.of(0, from.get(i) * pitch, bytes));
    }
    Ticket ticket = requester.read(peer, batch.build());
    assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
    for (int i = 0; i < blocks; i++) {
      MemorySegment got = target.memory().asSlice(to.get(i) * pitch, bytes);
      MemorySegment want = source.memory().asSlice(from.get(i) * pitch, bytes);
      assertThat(got.mismatch(want)).as("block %d", i).isEqualTo(-1);
      assertUntouched(target.memory().asSlice(to.get(i) * pitch + bytes, 32));
    }
  }

  @Test
  void stridedOnBothSidesCutDifferently() {
    try (Host owner = Host.open("request-bytes", "4096");
        Host requester = Host.open("request-bytes", "4096")) {
      Region source = owner.filled(1 << 20, 3);
      Region target = requester.registered(1 << 20);
      target.memory().fill(UNTOUCHED);
      Peer peer = requester.connect(owner);
      RemoteRegion remote =
          peer.importRegion(
              owner
                  .admit(
                      requester.transport.epoch(),
                      Descriptor.of(source.id(), 8, 500_000),
                      Descriptor.of(source.id(), 600_000, 300_000))
                  .wireForm());
      Descriptor local = new Descriptor(target.id(), 100, 300, 1_000, 64);
      RemoteDescriptor from = new RemoteDescriptor(1, 4, 120, 777, 160);
      Descriptor joined = new Descriptor(target.id(), 200_000, 100, 100, 50);
      RemoteDescriptor first = new RemoteDescriptor(0, 0, 1_250, 1_300, 4);
      Ticket ticket =
          requester.read(peer, Batch.from(remote).add(local, from).add(joined, first).build());
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      byte[] want = new byte[19_200];
      for (int i = 0; i < want.length; i++) {
        want[i] = byteAt(source, 600_004 + i / 120 * 777L + i % 120);
      }
      for (int i = 0; i < want.length; i++) {
        assertThat(byteAt(target, 100 + i / 300 * 1_000L + i % 300)).isEqualTo(want[i]);
      }
      for (int i = 0; i < 5_000; i++) {
        assertThat(byteAt(target, 200_000 + i))
            .isEqualTo(byteAt(source, 8 + i / 1_250 * 1_300L + i % 1_250));
      }
      for (int i = 0; i < 64; i++) {
        assertUntouched(target.memory().asSlice(400 + i * 1_000L, 700));
      }
    }
  }

  @Test
  void manyTicketsInFlightAndCallbacks() {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "3", "window-bytes", "65536")) {
      Region source = owner.filled(8 << 20, 4);
      Region target = requester.registered(8 << 20);
      Peer peer = requester.connect(owner);
      RemoteRegion remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      List<Ticket> tickets = new ArrayList<>();
      List<AtomicReference<Outcome>> heard = new ArrayList<>();
      int bytes = (8 << 20) / 1_000;
      for (int i = 0; i < 1_000; i++) {
        Ticket ticket =
            requester.read(
                peer,
                Batch.from(remote)
                    .add(
                        Descriptor.of(target.id(), (long) i * bytes, bytes),
                        RemoteDescriptor.of(0, (long) i * bytes, bytes))
                    .build());
        AtomicReference<Outcome> outcome = new AtomicReference<>();
        ticket.onSettled(outcome::set);
        tickets.add(ticket);
        heard.add(outcome);
      }
      assertThat(requester.context.places).hasValue(1_000);
      for (int i = 0; i < 1_000; i++) {
        AtomicReference<Outcome> outcome = heard.get(i);
        assertThat(Host.outcome(tickets.get(i))).isEqualTo(Outcome.COMPLETED);
        Await.until("callback", () -> Outcome.COMPLETED.equals(outcome.get()));
        assertThat(requester.spend(tickets.get(i))).isEqualTo(Evidence.LOCAL_QUIESCED);
      }
      assertThat(requester.context.places).hasValue(0);
      assertThat(
              target
                  .memory()
                  .asSlice(0, bytes * 1_000L)
                  .mismatch(source.memory().asSlice(0, bytes * 1_000L)))
          .isEqualTo(-1);
      assertThat(requester.context.meter("requests_in_flight")).isZero();
      assertThat(requester.context.meter("received_bytes")).isEqualTo(bytes * 1_000L);
      Await.until("owner's count", () -> owner.context.meter("sent_bytes") == bytes * 1_000L);
    }
  }

  @Test
  void smallTicketDoesNotWaitForLargeOne() {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "1")) {
      Region source = owner.filled(256 << 20, 5);
      Region target = requester.registered(256 << 20);
      Peer peer = requester.connect(owner);
      RemoteRegion remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      Ticket large =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(
                      Descriptor.of(target.id(), 4_096, (256 << 20) - 4_096),
                      RemoteDescriptor.of(0, 4_096, (256 << 20) - 4_096))
                  .build());
      Ticket small =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(Descriptor.of(target.id(), 0, 4_096), RemoteDescriptor.of(0, 0, 4_096))
                  .build());
      assertThat(Host.outcome(small)).isEqualTo(Outcome.COMPLETED);
      // Guard: with tickets served to their end in turn (no rotation) large would be first.
      assertThat(large.outcome()).isEmpty();
      assertThat(Host.outcome(large)).isEqualTo(Outcome.COMPLETED);
    }
  }

  @Test
  void bothDirectionsBetweenTwoEngines() {
    try (Host one = Host.open();
        Host two = Host.open()) {
      copyBlocks(one, two, 100, 70_000, 6);
      copyBlocks(two, one, 100, 70_000, 7);
      copyBlocks(one, one, 10, 70_000, 8);
    }
  }

  @Test
  void capabilitiesAreHeldTo() {
    OrbitteTcpProvider provider = new OrbitteTcpProvider();
    try (Host host = Host.open()) {
      assertThat(host.transport.capabilities()).isEqualTo(provider.capabilities(Map.of()));
      assertThat(provider.probe(Map.of()).usable()).isTrue();
      SourceHold hold = host.admitWhole(host, host.filled(10, 1));
      assertThat(hold.wireForm()).hasSize(80);
    }
  }

  static TestContext context(String host) {
    return new TestContext(host, TestContext.GRACE_NANOS, 1_024, Map.of());
  }

  private static List<Integer> shuffled(int count, Random random) {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      numbers.add(i);
    }
    Collections.shuffle(numbers, random);
    return numbers;
  }

  private static byte byteAt(Region region, long at) {
    return region.memory().get(ValueLayout.JAVA_BYTE, at);
  }

  private static void assertUntouched(MemorySegment memory) {
    byte[] bytes = memory.toArray(ValueLayout.JAVA_BYTE);
    byte[] want = new byte[bytes.length];
    Arrays.fill(want, UNTOUCHED);
    assertThat(Arrays.equals(bytes, want)).isTrue();
  }
}
