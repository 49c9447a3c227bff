package io.orbitkv.tck;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Peer.TicketOptions;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.lang.foreign.MemorySegment;

/** One source and one destination of the same length, and what a test does with the two. */
final class Exchange {
  /** What the source holds at first. */
  static final byte SOURCE = 0x11;

  /** What the destination holds at first. */
  static final byte BEFORE = 0x22;

  /** What either is filled with once it may be used for something else. */
  static final byte REUSED = 0x33;

  final EnginePair pair;
  final long bytes;
  final GuardedMemory from;
  final GuardedMemory to;
  final Region source;
  final Region target;
  final Peer peer;

  Exchange(EnginePair pair, long bytes) {
    this.pair = pair;
    this.bytes = bytes;
    from = pair.owner().memory(bytes).fill(SOURCE);
    to = pair.requester().memory(bytes).fill(BEFORE);
    source = pair.owner().register(from);
    target = pair.requester().register(to);
    peer = pair.connect();
  }

  SourceHold admit() {
    return pair.admit(source);
  }

  RemoteRegion grant() {
    return peer.importRegion(admit().wireForm());
  }

  /** A batch over everything, in so many entries. */
  Batch batch(RemoteRegion region, int entries) {
    Batch.Builder batch = Batch.from(region);
    long step = bytes / entries;
    for (int i = 0; i < entries; i++) {
      long length = i == entries - 1 ? bytes - i * step : step;
      batch.add(
          Descriptor.of(target.id(), i * step, length), RemoteDescriptor.of(0, i * step, length));
    }
    return batch.build();
  }

  /** Submits a read of everything under a new grant. */
  Ticket read() {
    return read(TicketOptions.NONE);
  }

  Ticket read(TicketOptions options) {
    return pair.requester().read(peer, batch(grant(), 8), options);
  }

  /** Bytes of one value, as many as there are. */
  MemorySegment all(byte value) {
    return MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]).fill(value);
  }

  /** How many bytes of the destination hold this value. */
  long countInDestination(byte value) {
    long count = 0;
    for (byte found : to.image().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE)) {
      if (found == value) {
        count++;
      }
    }
    return count;
  }
}
