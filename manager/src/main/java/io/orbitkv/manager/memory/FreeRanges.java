package io.orbitkv.manager.memory;

import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The free bytes of one arena: best fit, neighbours merged. Not thread-safe; the {@link Pool}
 * guards it.
 */
final class FreeRanges {
  private record Range(long bytes, long offset) implements Comparable<Range> {
    @Override
    public int compareTo(Range other) {
      int bySize = Long.compare(bytes, other.bytes);
      return bySize != 0 ? bySize : Long.compare(offset, other.offset);
    }
  }

  private final TreeMap<Long, Long> byOffset = new TreeMap<>();
  private final TreeSet<Range> bySize = new TreeSet<>();
  private long freeBytes;

  FreeRanges(long bytes) {
    insert(0, bytes);
  }

  OptionalLong take(long bytes) {
    Range best = bySize.ceiling(new Range(bytes, 0));
    if (best == null) {
      return OptionalLong.empty();
    }
    remove(best.offset, best.bytes);
    if (best.bytes > bytes) {
      insert(best.offset + bytes, best.bytes - bytes);
    }
    return OptionalLong.of(best.offset);
  }

  void give(long offset, long bytes) {
    long start = offset;
    long end = offset + bytes;
    Map.Entry<Long, Long> before = byOffset.floorEntry(offset);
    if (before != null) {
      long beforeEnd = before.getKey() + before.getValue();
      if (beforeEnd > offset) {
        throw new AssertionError("range at " + offset + " is free already");
      }
      if (beforeEnd == offset) {
        start = before.getKey();
        remove(before.getKey(), before.getValue());
      }
    }
    Map.Entry<Long, Long> after = byOffset.ceilingEntry(offset);
    if (after != null) {
      if (after.getKey() < end) {
        throw new AssertionError("range at " + after.getKey() + " is free already");
      }
      if (after.getKey() == end) {
        end += after.getValue();
        remove(after.getKey(), after.getValue());
      }
    }
    insert(start, end - start);
  }

  long freeBytes() {
    return freeBytes;
  }

  private void insert(long offset, long bytes) {
    byOffset.put(offset, bytes);
    bySize.add(new Range(bytes, offset));
    freeBytes += bytes;
  }

  private void remove(long offset, long bytes) {
    byOffset.remove(offset);
    bySize.remove(new Range(bytes, offset));
    freeBytes -= bytes;
  }
}
