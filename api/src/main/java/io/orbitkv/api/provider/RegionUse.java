package io.orbitkv.api.provider;

import io.orbitkv.api.Region;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** The regions that one ticket or source hold may touch: no registration of them can be closed. */
final class RegionUse implements AutoCloseable {
  private final List<Region> regions;
  private final List<RegisteredRegion> used;
  private final AtomicBoolean ended = new AtomicBoolean();

  /** Each of {@code used} was counted once, on behalf of this. */
  RegionUse(List<Region> regions, List<RegisteredRegion> used) {
    this.regions = List.copyOf(regions);
    this.used = used;
  }

  /** The region of one descriptor, by its position. */
  Region region(int index) {
    return regions.get(index);
  }

  /** Ends the use: with the receipt, and not before. */
  @Override
  public void close() {
    if (!ended.compareAndSet(false, true)) {
      throw new IllegalStateException("the use of " + regions.size() + " regions ended twice");
    }
    used.forEach(RegisteredRegion::release);
  }
}
