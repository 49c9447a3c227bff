package io.orbitkv.adapter.restore;

/**
 * One aligned 64-bit word of memory that processes share. It has one writer. Each call is one
 * access, never torn.
 */
public interface SharedWord {
  /** Reads it; nothing behind this call is read or written earlier. */
  long load();

  /** Writes it; nothing before this call is read or written later. */
  void store(long value);
}
