package io.orbitkv.adapter;

import java.util.Objects;

/**
 * One block to publish: its name and the range of registered memory that holds its bytes. The range
 * must not be written from {@code publish} until its future ends.
 *
 * @param name the block's name
 * @param memory memory of the same client
 * @param offset start of the block in that memory, bytes
 * @param bytes length of the block, at least 1
 */
public record Piece(BlockName name, RegisteredMemory memory, long offset, long bytes) {
  /** Checks the range against the memory; {@link IndexOutOfBoundsException} if it leaves it. */
  public Piece {
    Objects.checkFromIndexSize(offset, bytes, memory.bytes());
    if (bytes == 0) {
      throw new IndexOutOfBoundsException("block " + name + " has no bytes; at least 1 is needed");
    }
  }

  /** The whole of a registered memory as one block. */
  public static Piece of(BlockName name, RegisteredMemory memory) {
    return new Piece(name, memory, 0, memory.bytes());
  }
}
