package io.orbitkv.manager.catalog;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.manager.memory.Allocation;

/**
 * One page of KV cache under its name; immutable once it is in the catalog.
 *
 * @param name given by the engine
 * @param allocation where its bytes are
 */
public record Block(BlockName name, Allocation allocation) {
  /** Length in bytes. */
  public long bytes() {
    return allocation.bytes();
  }
}
