package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every byte arrives where the batch says, and nowhere else. */
public abstract class TransferTck extends ProviderTck {
  private static final long SEED = 0x7e57L;

  /** For subclasses. */
  protected TransferTck() {}

  @ParameterizedTest(name = "{0} bytes")
  @ValueSource(longs = {0, 1, 7, 4_095, 4_096, 4_097, 65_537, 1_048_577, 67_108_864})
  void oneRange(long bytes) {
    long size = Math.min(bytes, pair().owner().transport().capabilities().maxReadBytes());
    for (MemoryKind kind : kinds()) {
      // Room around it, and an odd start, so that bytes beside the batch would be seen.
      long room = size + 131;
      GuardedMemory from = pair().owner().memory(kind, room).fill(SEED);
      GuardedMemory to = pair().requester().memory(kind, room).fill(SEED + 1);
      Region source = pair().owner().register(from);
      Region target = pair().requester().register(to);
      Peer peer = pair().connect();
      RemoteRegion region = peer.importRegion(pair().admit(source).wireForm());
      read(
          peer,
          to,
          Batch.from(region)
              .add(Descriptor.of(target.id(), 65, size), RemoteDescriptor.of(0, 33, size))
              .build(),
          List.of(from),
          List.of(Descriptor.of(source.id(), 0, room)));
    }
  }

  private List<MemoryKind> kinds() {
    List<MemoryKind> kinds = new ArrayList<>();
    for (MemoryKind.Type type : pair().owner().transport().capabilities().memory()) {
      kinds.add(type == MemoryKind.Type.HOST ? MemoryKind.HOST : MemoryKind.cuda(0));
    }
    return kinds;
  }

  @Test
  void thousandShuffledBlocks() {
    int blocks = 1_000;
    int block = 1_537;
    GuardedMemory from = pair().owner().memory((long) blocks * block).fill(SEED + 2);
    GuardedMemory to = pair().requester().memory((long) blocks * block).fill(SEED + 3);
    Region source = pair().owner().register(from);
    Region target = pair().requester().register(to);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < blocks; i++) {
      order.add(i);
    }
    Collections.shuffle(order, new Random(SEED));
    Peer peer = pair().connect();
    Batch.Builder batch = Batch.from(peer.importRegion(pair().admit(source).wireForm()));
    int most = Math.min(blocks, pair().requester().transport().capabilities().maxDescriptors());
    for (int i = 0; i < most; i++) {
      batch.add(
          Descriptor.of(target.id(), (long) order.get(i) * block, block),
          RemoteDescriptor.of(0, (long) i * block, block));
    }
    read(
        peer,
        to,
        batch.build(),
        List.of(from),
        List.of(Descriptor.of(source.id(), 0, (long) blocks * block)));
  }

  @Test
  void manyRangesOfSeveralRegions() {
    int ranges = 9;
    List<GuardedMemory> sources = new ArrayList<>();
    List<Descriptor> granted = new ArrayList<>();
    for (int i = 0; i < ranges; i++) {
      GuardedMemory memory = pair().owner().memory(5_000).fill(SEED + 10 + i);
      sources.add(memory);
      granted.add(Descriptor.of(pair().owner().register(memory).id(), 10L * i, 3_000));
    }
    GuardedMemory to = pair().requester().memory(ranges * 3_000L).fill(SEED);
    Region target = pair().requester().register(to);
    Peer peer = pair().connect();
    var hold =
        pair()
            .owner()
            .admit(pair().requester().transport().epoch(), granted.toArray(new Descriptor[0]));
    RemoteRegion region = peer.importRegion(hold.wireForm());
    assertThat(region.ranges()).isEqualTo(ranges);
    assertThat(region.grant()).isEqualTo(hold.grant());
    Batch.Builder batch = Batch.from(region);
    for (int i = 0; i < ranges; i++) {
      assertThat(region.length(i)).isEqualTo(3_000);
      batch.add(
          Descriptor.of(target.id(), (ranges - 1L - i) * 3_000, 2_990),
          RemoteDescriptor.of(i, 5, 2_990));
    }
    read(peer, to, batch.build(), sources, granted);
  }

  @Test
  void stridedOnBothSidesAndCutDifferently() {
    needs(Behaviour.STRIDED);
    GuardedMemory from = pair().owner().memory(1 << 20).fill(SEED + 4);
    GuardedMemory to = pair().requester().memory(1 << 20).fill(SEED + 5);
    Region source = pair().owner().register(from);
    Region target = pair().requester().register(to);
    Peer peer = pair().connect();
    Batch batch =
        Batch.from(peer.importRegion(pair().admit(source).wireForm()))
            .add(
                new Descriptor(target.id(), 100, 1_024, 2_000, 30),
                new RemoteDescriptor(0, 7, 512, 4_096, 60))
            .add(
                Descriptor.of(target.id(), 500_000, 9_000),
                new RemoteDescriptor(0, 400_000, 3, 5, 3_000))
            .build();
    read(peer, to, batch, List.of(from), List.of(Descriptor.of(source.id(), 0, source.length())));
  }

  @Test
  void bothDirectionsAtOnce() {
    KitEngine a = pair().owner();
    KitEngine b = pair().requester();
    long bytes = 300_000;
    GuardedMemory ofA = a.memory(bytes).fill(SEED + 6);
    GuardedMemory ofB = b.memory(bytes).fill(SEED + 7);
    GuardedMemory toA = a.memory(bytes);
    GuardedMemory toB = b.memory(bytes);
    Peer owner = pair().connect();
    Peer back =
        a.keep(
            a.transport()
                .connect(
                    b.transport().endpoint(), b.transport().epoch(), b.transport().peerBytes()));
    var fromA = owner.importRegion(pair().admit(a.register(ofA)).wireForm());
    var fromB = back.importRegion(b.admit(a.transport().epoch(), b.register(ofB)).wireForm());
    Ticket first = b.read(owner, EnginePair.whole(fromA, b.register(toB)));
    Ticket second = a.read(back, EnginePair.whole(fromB, a.register(toA)));
    assertThat(Await.outcome(first).completed()).isTrue();
    assertThat(Await.outcome(second).completed()).isTrue();
    toB.assertHolds("b's destination", GuardedMemory.pattern(SEED + 6, bytes));
    toA.assertHolds("a's destination", GuardedMemory.pattern(SEED + 7, bytes));
  }

  /** Reads, and compares the whole destination with what the batch says, at the very outcome. */
  private void read(
      Peer peer,
      GuardedMemory to,
      Batch batch,
      List<GuardedMemory> sources,
      List<Descriptor> granted) {
    MemorySegment expected = to.image();
    for (int i = 0; i < batch.size(); i++) {
      RemoteDescriptor remote = batch.remote(i);
      MemorySegment range =
          sources.get(remote.range()).image().asSlice(granted.get(remote.range()).offset());
      copy(range, remote, expected, batch.local(i));
    }
    Ticket ticket = pair().requester().read(peer, batch);
    assertThat(Await.outcome(ticket).completed()).as("%s", ticket.outcome()).isTrue();
    to.assertHolds("destination of " + batch, expected);
    var _ = pair().requester().spend(ticket);
    to.assertHolds("destination of " + batch + " after the receipt", expected);
  }

  private static void copy(
      MemorySegment from, RemoteDescriptor remote, MemorySegment to, Descriptor local) {
    for (long moved = 0; moved < local.bytes(); ) {
      long fromPiece = moved % remote.length();
      long toPiece = moved % local.length();
      long step = Math.min(remote.length() - fromPiece, local.length() - toPiece);
      long at = remote.offset() + moved / remote.length() * remote.stride() + fromPiece;
      long into = local.offset() + moved / local.length() * local.stride() + toPiece;
      MemorySegment.copy(from, at, to, into, step);
      moved += step;
    }
  }
}
