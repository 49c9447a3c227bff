package io.orbitkv.adapter.ring;

import io.orbitkv.adapter.wire.Command;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes commands out of one ring. For one thread at a time. The memory is its owner's and must stay
 * mapped.
 *
 * <p>A command and its descriptor are copied out before anything in them is looked at, so that the
 * other side can not change them between check and use.
 */
public final class RingConsumer {
  /**
   * What was taken out.
   *
   * @param command not checked but for the place of its descriptor
   * @param descriptor its own bytes, on the heap
   */
  public record Taken(Command command, MemorySegment descriptor) {}

  private static final MemorySegment NONE = MemorySegment.ofArray(new byte[0]);
  private static final long LAPS = Long.MAX_VALUE / RingLayout.ARENA_BYTES - 2;

  private final MemorySegment memory;
  private final RingLayout ring;
  private final MemorySegment entry = MemorySegment.ofArray(new long[Command.BYTES / 8]);
  private long head;
  private long arenaEnd;

  /**
   * For memory that is all zeros but for the header.
   *
   * @param memory of {@link RingLayout#BYTES} bytes, writable
   * @param ring which direction it reads
   */
  public RingConsumer(MemorySegment memory, RingLayout ring) {
    this.memory = memory.asSlice(0, RingLayout.BYTES);
    this.ring = ring;
  }

  /** Whether there is something to take out, or the producer broke the ring. */
  public boolean ready() {
    return RingWords.acquire(memory, ring.tail()) != head;
  }

  /** How many commands were taken out. */
  public long taken() {
    return head;
  }

  /**
   * How many commands the producer has written.
   *
   * @throws TransportException CORRUPT if that can not be
   */
  public long written() {
    long tail = RingWords.acquire(memory, ring.tail());
    if (tail < head || tail - head > RingLayout.ENTRIES) {
      throw broken("says that " + tail + " commands were written, " + head + " were taken out");
    }
    return tail;
  }

  /**
   * Takes the next command out and gives its place back. The caller then asks {@link
   * #producerWaits()}.
   *
   * @return null if there is none
   * @throws TransportException CORRUPT if the producer broke the ring; the session must end then
   */
  public @Nullable Taken take() {
    return take(_ -> {});
  }

  /**
   * As the other one.
   *
   * @param copying told how long a descriptor is before it is copied, bytes; may wait, must not
   *     throw
   */
  public @Nullable Taken take(LongConsumer copying) {
    if (written() == head) {
      return null;
    }
    MemorySegment.copy(memory, ring.entry(head), entry, 0, Command.BYTES);
    Command command = Command.decode(entry);
    MemorySegment descriptor = descriptor(command, copying);
    head++;
    RingWords.release(memory, ring.head(), head);
    return new Taken(command, descriptor);
  }

  /** Whether the producer must be told by its event that a place was given back; a full fence. */
  public boolean producerWaits() {
    VarHandle.fullFence();
    return RingWords.flag(memory, ring.full());
  }

  /**
   * Announces that this side waits for its event. After {@code true} the caller must look at {@link
   * #ready()} once more before it blocks.
   */
  public void sleeping(boolean value) {
    RingWords.flag(memory, ring.sleeping(), value);
    if (value) {
      VarHandle.fullFence();
    }
  }

  private MemorySegment descriptor(Command command, LongConsumer copying) {
    long bytes = command.descriptorLength();
    long offset = command.descriptorOffset();
    long lap = command.generation();
    if (bytes == 0) {
      return NONE;
    }
    if (bytes > RingLayout.DESCRIPTOR_BYTES
        || offset < 0
        || offset % RingLayout.DESCRIPTOR_ALIGNMENT != 0
        || offset > RingLayout.ARENA_BYTES - bytes) {
      throw broken("has a descriptor of " + bytes + " bytes at " + offset + ", outside the arena");
    }
    // An arena is used in order, so a descriptor of an earlier lap never passes for a new one.
    long position = lap * RingLayout.ARENA_BYTES + offset;
    if (lap < 0
        || lap > LAPS
        || position < arenaEnd
        || position - arenaEnd > RingLayout.ARENA_BYTES) {
      throw broken("has a descriptor of generation " + lap + " at " + offset + ", out of turn");
    }
    copying.accept(bytes);
    byte[] copy = new byte[(int) bytes];
    MemorySegment.copy(memory, ring.arena() + offset, MemorySegment.ofArray(copy), 0, bytes);
    arenaEnd = position + bytes;
    return MemorySegment.ofArray(copy);
  }

  private TransportException broken(String why) {
    return new TransportException(
        FaultCode.CORRUPT, "ring of " + ring + " " + why + "; connect again");
  }
}
