package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.SharedMapping;

/**
 * Memory of an engine that this process may read.
 *
 * @param id within its session; used again later
 * @param generation of this use of the id; never used again
 * @param file which file it is: device and inode
 * @param offset where the range begins in it, bytes
 * @param mapping the range, for reading only
 */
record EngineMemory(long id, long generation, String file, long offset, SharedMapping mapping) {
  boolean overlaps(String otherFile, long otherOffset, long otherBytes) {
    return file.equals(otherFile)
        && offset < otherOffset + otherBytes
        && otherOffset < offset + mapping.bytes();
  }
}
