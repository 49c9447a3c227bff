package io.orbitkv.stress;

import io.orbitkv.ffm.PageSize;
import io.orbitkv.manager.memory.Pool;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Pools of one page, used again by later states: the next allocation can only be the page that the
 * first one left. Thread-safe.
 */
public final class OnePagePools {
  private static final ConcurrentLinkedQueue<Pool> IDLE = new ConcurrentLinkedQueue<>();

  private OnePagePools() {}

  /** A pool with all of its page free. */
  public static Pool take() {
    Pool idle = IDLE.poll();
    return idle == null ? new Pool(PageSize.bytes()) : idle;
  }

  /**
   * Takes a pool back.
   *
   * @return whether its page is free and nothing holds it; it is not used again otherwise
   */
  public static boolean giveBack(Pool pool) {
    Pool.Usage usage = pool.usage();
    boolean whole = usage.free() == usage.capacity() && usage.holds() == 0 && usage.retired() == 0;
    if (whole) {
      IDLE.add(pool);
    }
    return whole;
  }
}
