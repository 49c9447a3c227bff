package io.orbitkv.systemtests.simulation;

import io.orbitkv.adapter.restore.SharedWord;
import java.util.ArrayDeque;
import java.util.Deque;

/** The stores of one process that others do not see yet, in order. The process sees its own. */
final class StoreBuffer {
  /** A word as everybody sees it. */
  static final class Cell {
    private long visible;
  }

  private record Store(Cell cell, long value) {}

  private final Deque<Store> late = new ArrayDeque<>();
  private final Runnable stored;

  /** A buffer; {@code stored} is told of each store, which {@link #showFirst} makes visible. */
  StoreBuffer(Runnable stored) {
    this.stored = stored;
  }

  SharedWord view(Cell cell) {
    return new SharedWord() {
      @Override
      public long load() {
        long value = cell.visible;
        for (Store store : late) {
          value = store.cell == cell ? store.value : value;
        }
        return value;
      }

      @Override
      public void store(long value) {
        late.add(new Store(cell, value));
        stored.run();
      }
    };
  }

  void showFirst() {
    Store first = late.poll();
    if (first != null) {
      first.cell.visible = first.value;
    }
  }

  void drain() {
    while (!late.isEmpty()) {
      showFirst();
    }
  }
}
