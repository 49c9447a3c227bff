package io.orbitkv.adapter.ring;

import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Writes commands into one ring. For one thread at a time: callers that share it take a lock. The
 * memory is its owner's and must stay mapped.
 *
 * <p>What it believes about free room comes from the consumer's head alone, and is checked: a
 * consumer that writes nonsense can stop this ring, and nothing else.
 */
public final class RingProducer {
  private static final int MASK = RingLayout.ENTRIES - 1;

  /** An empty arena is begun anew from here on, so that few of its pages are ever touched. */
  private static final long WARM_BYTES = 512L << 10;

  private final MemorySegment memory;
  private final RingLayout ring;
  private final long epochHigh;
  private final long epochLow;

  /** Up to where the arena is used once the command of that number is taken out. */
  private final long[] arenaEnds = new long[RingLayout.ENTRIES];

  private long tail;
  private long head;
  private long arenaTail;
  private long arenaHead;

  /**
   * For memory that is all zeros but for the header.
   *
   * @param memory of {@link RingLayout#BYTES} bytes, writable
   * @param ring which direction it writes
   * @param epoch of the Manager, written into every command
   */
  public RingProducer(MemorySegment memory, RingLayout ring, Epoch epoch) {
    this.memory = memory.asSlice(0, RingLayout.BYTES);
    this.ring = ring;
    this.epochHigh = Long.reverseBytes(epoch.high());
    this.epochLow = Long.reverseBytes(epoch.low());
  }

  /**
   * Writes a command and its descriptor, if there is room. The caller then asks {@link
   * #consumerSleeps()}.
   *
   * @param descriptor at most {@link RingLayout#DESCRIPTOR_BYTES} bytes; may be empty
   * @return false if ring or arena are full; nothing was written then
   * @throws TransportException INVALID for a descriptor that never fits, CORRUPT if the consumer
   *     took out what was never written
   */
  public boolean offer(
      Opcode opcode, long requestId, long scalar0, long scalar1, MemorySegment descriptor) {
    long bytes = descriptor.byteSize();
    if (bytes > RingLayout.DESCRIPTOR_BYTES) {
      throw new TransportException(
          FaultCode.INVALID,
          opcode
              + ": descriptor of "
              + bytes
              + " bytes; the limit is "
              + RingLayout.DESCRIPTOR_BYTES
              + "; name fewer blocks at once");
    }
    long position = room(bytes);
    if (position < 0) {
      return false;
    }
    write(opcode, requestId, scalar0, scalar1, descriptor, position);
    return true;
  }

  /**
   * Whether a descriptor of so many bytes has room now.
   *
   * @throws TransportException CORRUPT as {@link #offer}
   */
  public boolean hasRoom(long bytes) {
    return room(bytes) >= 0;
  }

  /**
   * Announces that this side waits for its event until room is given back. After {@code true} the
   * caller must look at {@link #hasRoom} once more before it blocks.
   */
  public void waitsForRoom(boolean value) {
    RingWords.flag(memory, ring.full(), value);
    if (value) {
      VarHandle.fullFence();
    }
  }

  /**
   * Whether the consumer must be woken by its event for what was written last. Costs a full fence:
   * without it this side could miss that the other one went to sleep, and be missed by it.
   */
  public boolean consumerSleeps() {
    VarHandle.fullFence();
    return RingWords.flag(memory, ring.sleeping());
  }

  private void write(
      Opcode opcode,
      long requestId,
      long scalar0,
      long scalar1,
      MemorySegment descriptor,
      long position) {
    long bytes = descriptor.byteSize();
    long offset = bytes == 0 ? 0 : position & (RingLayout.ARENA_BYTES - 1);
    long lap = bytes == 0 ? 0 : position / RingLayout.ARENA_BYTES;
    if (bytes > 0) {
      MemorySegment.copy(descriptor, 0, memory, ring.arena() + offset, bytes);
    }
    long entry = ring.entry(tail);
    RingWords.plain(memory, entry, Command.VERSION | ((long) opcode.wire() << 16) | (bytes << 32));
    RingWords.plain(memory, entry + 8, requestId);
    RingWords.plain(memory, entry + 16, epochHigh);
    RingWords.plain(memory, entry + 24, epochLow);
    RingWords.plain(memory, entry + 32, offset);
    RingWords.plain(memory, entry + 40, lap);
    RingWords.plain(memory, entry + 48, scalar0);
    RingWords.plain(memory, entry + 56, scalar1);
    arenaTail = position + bytes;
    arenaEnds[(int) (tail & MASK)] = arenaTail;
    tail++;
    RingWords.release(memory, ring.tail(), tail);
  }

  /** Where so many bytes go; -1 if there is no room for them or for their command. */
  private long room(long bytes) {
    long begun = arenaTail & (RingLayout.ARENA_BYTES - 1);
    boolean cold = bytes > 0 && begun > 0 && begun + bytes > WARM_BYTES;
    if (cold || tail - head == RingLayout.ENTRIES || !fits(bytes)) {
      takeBack();
    }
    if (cold && head == tail) {
      arenaTail = (arenaTail | (RingLayout.ARENA_BYTES - 1)) + 1;
      arenaHead = arenaTail;
    }
    return tail - head == RingLayout.ENTRIES || !fits(bytes) ? -1 : place(bytes);
  }

  private boolean fits(long bytes) {
    return bytes == 0 || place(bytes) + bytes - arenaHead <= RingLayout.ARENA_BYTES;
  }

  /** The next position for so many bytes in one piece: aligned, and not across the end. */
  private long place(long bytes) {
    if (bytes == 0) {
      return arenaTail;
    }
    long start = -(-arenaTail & -RingLayout.DESCRIPTOR_ALIGNMENT);
    long offset = start & (RingLayout.ARENA_BYTES - 1);
    return offset + bytes <= RingLayout.ARENA_BYTES
        ? start
        : start - offset + RingLayout.ARENA_BYTES;
  }

  private void takeBack() {
    long seen = RingWords.acquire(memory, ring.head());
    if (seen < head || seen > tail) {
      throw new TransportException(
          FaultCode.CORRUPT,
          ring + ": " + seen + " commands taken out of " + tail + " written; connect again");
    }
    if (seen > head) {
      head = seen;
      arenaHead = arenaEnds[(int) ((seen - 1) & MASK)];
    }
  }
}
