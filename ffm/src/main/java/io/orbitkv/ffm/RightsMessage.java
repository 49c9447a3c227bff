package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One message with descriptors, for one direction of one Unix socket. The bytes go through a small
 * buffer of its own, so that no address of the caller's memory is left in a header.
 */
final class RightsMessage {
  static final int MAX_DESCRIPTORS = 16;
  static final int MAX_BYTES = 4096;

  // struct cmsghdr, linux/socket.h: size_t length, int level, int type, data
  private static final int HEADER_BYTES = 16;
  private static final int LEVEL = 8;
  private static final int TYPE = 12;
  private static final int SOL_SOCKET = 1;
  private static final int CONTROL_BYTES = HEADER_BYTES + 4 * MAX_DESCRIPTORS;

  private final MemorySegment header;
  private final MemorySegment iovec;
  private final MemorySegment control;
  private final MemorySegment bytes;

  RightsMessage() {
    Arena arena = Arena.ofAuto();
    header = arena.allocate(MessageHeader.BYTES, 8);
    iovec = arena.allocate(MessageHeader.IOVEC_BYTES, 8);
    control = arena.allocate(CONTROL_BYTES, 8);
    bytes = arena.allocate(MAX_BYTES, 8);
    MessageHeader.vector(header, iovec, 1);
  }

  /** Sends the first bytes of a range with the descriptors; the count, at least 1. */
  long send(int fd, MemorySegment source, long offset, long length, Fd... passed) {
    long count = Math.min(length, MAX_BYTES);
    MemorySegment.copy(source, offset, bytes, 0, count);
    MessageHeader.iovec(iovec, 0, bytes.address(), count);
    control.set(JAVA_LONG, 0, HEADER_BYTES + 4L * passed.length);
    control.set(JAVA_INT, LEVEL, SOL_SOCKET);
    control.set(JAVA_INT, TYPE, SocketCalls.SCM_RIGHTS);
    MessageHeader.control(header, control, align(HEADER_BYTES + 4L * passed.length));
    int entered = 0;
    try {
      for (; entered < passed.length; entered++) {
        control.set(JAVA_INT, HEADER_BYTES + 4L * entered, passed[entered].enter());
      }
      long result;
      do {
        result = SocketCalls.sendmsg(fd, header);
      } while (result == -Errno.EINTR);
      return SocketIo.orThrow("sendmsg", fd, result);
    } finally {
      for (int i = 0; i < entered; i++) {
        passed[i].leave();
      }
    }
  }

  /** Receives bytes and descriptors; both, or an exception and neither. */
  long receive(int fd, MemorySegment target, long offset, long length, List<Fd> sink) {
    long limit = Math.min(length, MAX_BYTES);
    MessageHeader.iovec(iovec, 0, bytes.address(), limit);
    MessageHeader.control(header, control, CONTROL_BYTES);
    long result;
    do {
      result = SocketCalls.recvmsg(fd, header, SocketCalls.MSG_CMSG_CLOEXEC);
    } while (result == -Errno.EINTR);
    SocketIo.orThrow("recvmsg", fd, result);
    List<Fd> arrived = arrived();
    boolean delivered = false;
    try {
      if ((MessageHeader.flags(header) & SocketCalls.MSG_CTRUNC) != 0) {
        throw new NativeException(
            "recvmsg(fd " + fd + ")",
            Errno.EMFILE,
            "more than " + MAX_DESCRIPTORS + " descriptors, or no room for them; raise ulimit -n");
      }
      MemorySegment.copy(bytes, 0, target, offset, result);
      sink.addAll(arrived);
      delivered = true;
      return result;
    } finally {
      if (!delivered) {
        arrived.forEach(Fd::close);
      }
    }
  }

  private List<Fd> arrived() {
    List<Fd> arrived = new ArrayList<>();
    long end = Math.min(MessageHeader.controlBytes(header), CONTROL_BYTES);
    long at = 0;
    while (at + HEADER_BYTES <= end) {
      long length = control.get(JAVA_LONG, at);
      if (length < HEADER_BYTES || length > end - at) {
        break;
      }
      if (control.get(JAVA_INT, at + LEVEL) == SOL_SOCKET
          && control.get(JAVA_INT, at + TYPE) == SocketCalls.SCM_RIGHTS) {
        for (long i = at + HEADER_BYTES; i + 4 <= at + length; i += 4) {
          arrived.add(Fd.adopt(control.get(JAVA_INT, i)));
        }
      }
      at += align(length);
    }
    return arrived;
  }

  private static long align(long length) {
    return (length + 7) & ~7L;
  }
}
