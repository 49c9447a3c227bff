package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.ffm.PageSize;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A piece of memory between two red zones. The zones hold a pattern that nobody may change; the
 * middle is what a region covers. Owned by its {@link KitEngine}, which checks the zones at the
 * end.
 */
public final class GuardedMemory implements AutoCloseable {
  private static final AtomicLong NUMBERS = new AtomicLong();
  private static final long ZONE_SEED = 0x0bad_cafeL;
  private static final long LOOK_NANOS = 1_000_000;

  private final MemoryBacking backing;
  private final long bytes;
  private final long front = PageSize.bytes();

  GuardedMemory(ProviderFixture fixture, io.orbitkv.api.MemoryKind kind, long bytes) {
    this.bytes = bytes;
    this.backing = fixture.memory(kind, front + PageSize.roundUp(bytes) + PageSize.bytes());
    backing.store(0, pattern(ZONE_SEED, front));
    backing.store(front + bytes, pattern(ZONE_SEED, back()));
  }

  private long back() {
    return backing.segment().byteSize() - front - bytes;
  }

  /** How much of it is not red zone, bytes. */
  public long bytes() {
    return bytes;
  }

  /** A region that covers all but the red zones, under a name that was never used. */
  public Region region(Permission permission) {
    return new Region(
        new RegionId(NUMBERS.incrementAndGet(), 1),
        backing.fd(),
        backing.fd() < 0 ? 0 : front,
        backing.segment().asSlice(front, bytes),
        backing.kind(),
        permission,
        Region.Backing.BORROWED);
  }

  /** Bytes that a seed stands for, in host memory. */
  public static MemorySegment pattern(long seed, long bytes) {
    MemorySegment segment = MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
    SplittableRandom random = new SplittableRandom(seed);
    long at = 0;
    for (; at + Long.BYTES <= bytes; at += Long.BYTES) {
      segment.set(ValueLayout.JAVA_LONG_UNALIGNED, at, random.nextLong());
    }
    for (; at < bytes; at++) {
      segment.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
    }
    return segment;
  }

  /** Fills it with what a seed stands for. */
  public GuardedMemory fill(long seed) {
    backing.store(front, pattern(seed, bytes));
    return this;
  }

  /** Fills it with one value. */
  public GuardedMemory fill(byte value) {
    backing.store(front, MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]).fill(value));
    return this;
  }

  /** What is in it now. */
  public MemorySegment image() {
    MemorySegment copy = MemorySegment.ofArray(new byte[Math.toIntExact(bytes)]);
    backing.load(front, copy);
    return copy;
  }

  /** Fails unless it holds exactly these bytes. */
  public void assertHolds(String what, MemorySegment expected) {
    long at = image().mismatch(expected);
    assertThat(at).as("%s: the first wrong byte (-1: none)", what).isEqualTo(-1);
  }

  /**
   * Looks again and again for so long whether something writes into it: the watch for late bytes.
   */
  public void assertStays(String what, MemorySegment expected, long nanos) {
    long end = System.nanoTime() + nanos;
    do {
      assertHolds(what, expected);
      LockSupport.parkNanos(LOOK_NANOS);
    } while (System.nanoTime() < end);
    assertHolds(what, expected);
  }

  /** Fails if somebody wrote beside it. */
  public void assertRedZones() {
    assertZone("before", 0, front);
    assertZone("behind", front + bytes, back());
  }

  private void assertZone(String where, long at, long length) {
    MemorySegment found = MemorySegment.ofArray(new byte[Math.toIntExact(length)]);
    backing.load(at, found);
    assertThat(found.mismatch(pattern(ZONE_SEED, length)))
        .as("the first byte written %s the memory of %d bytes (-1: none)", where, bytes)
        .isEqualTo(-1);
  }

  @Override
  public void close() {
    backing.close();
  }
}
