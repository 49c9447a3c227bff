package io.orbitkv.manager.catalog;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.manager.memory.Allocation;
import org.jspecify.annotations.Nullable;

/**
 * One page of KV cache under its name; immutable once it is in the catalog.
 *
 * @param name given by the engine
 * @param allocation where its bytes are
 * @param digest of its bytes as they were published; null if none was taken then
 */
public record Block(BlockName name, Allocation allocation, @Nullable Digest digest) {
  /** Length in bytes. */
  public long bytes() {
    return allocation.bytes();
  }
}
