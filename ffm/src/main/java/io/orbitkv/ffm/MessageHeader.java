package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** Offsets of struct msghdr and struct iovec (bits/types/struct_iovec.h, bits/socket.h), LP64. */
final class MessageHeader {
  static final int BYTES = 56;
  static final int IOVEC_BYTES = 16;
  private static final int IOV = 16;
  private static final int IOV_LENGTH = 24;
  private static final int CONTROL = 32;
  private static final int CONTROL_LENGTH = 40;
  private static final int FLAGS = 48;
  private static final int IOVEC_LENGTH = 8;

  private MessageHeader() {}

  static void vector(MemorySegment header, MemorySegment iovecs, long count) {
    header.set(ADDRESS, IOV, iovecs);
    header.set(JAVA_LONG, IOV_LENGTH, count);
  }

  static void control(MemorySegment header, MemorySegment control, long bytes) {
    header.set(ADDRESS, CONTROL, control);
    header.set(JAVA_LONG, CONTROL_LENGTH, bytes);
  }

  static long controlBytes(MemorySegment header) {
    return header.get(JAVA_LONG, CONTROL_LENGTH);
  }

  static int flags(MemorySegment header) {
    return header.get(JAVA_INT, FLAGS);
  }

  static void iovec(MemorySegment memory, long at, long address, long bytes) {
    memory.set(JAVA_LONG, at, address);
    memory.set(JAVA_LONG, at + IOVEC_LENGTH, bytes);
  }

  static long iovecAddress(MemorySegment memory, long at) {
    return memory.get(JAVA_LONG, at);
  }

  static long iovecBytes(MemorySegment memory, long at) {
    return memory.get(JAVA_LONG, at + IOVEC_LENGTH);
  }
}
