package io.orbitkv.manager.restore;

import io.orbitkv.adapter.restore.SharedWord;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The stores of one process that others do not see yet, in order, as a processor with total store
 * order keeps them. The process sees its own.
 */
final class StoreBuffer {
  /** A word as everybody sees it. */
  static final class Cell {
    long visible;
  }

  private record Pending(Cell cell, long value) {}

  private final Deque<Pending> pending = new ArrayDeque<>();

  /** The process's view of a word. */
  SharedWord view(Cell cell) {
    return new SharedWord() {
      @Override
      public long load() {
        long value = cell.visible;
        for (Pending store : pending) {
          value = store.cell == cell ? store.value : value;
        }
        return value;
      }

      @Override
      public void store(long value) {
        pending.add(new Pending(cell, value));
      }
    };
  }

  boolean isEmpty() {
    return pending.isEmpty();
  }

  long first() {
    return pending.getFirst().value;
  }

  void showFirst() {
    Pending first = pending.removeFirst();
    first.cell.visible = first.value;
  }

  void drain() {
    while (!isEmpty()) {
      showFirst();
    }
  }

  List<Long> values() {
    List<Long> values = new ArrayList<>();
    pending.forEach(store -> values.add(store.value));
    return values;
  }
}
