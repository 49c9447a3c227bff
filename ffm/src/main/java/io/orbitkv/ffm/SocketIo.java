package io.orbitkv.ffm;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * The send and receive loops of stream sockets. Small and static, so that they are compiled early.
 * The caller has entered the descriptor. Signals are passed over.
 */
final class SocketIo {
  private SocketIo() {}

  /** Refuses what must not reach a call: heap memory, a closed arena, a range outside. */
  static void check(MemorySegment segment, long offset, long bytes) {
    Objects.checkFromIndexSize(offset, bytes, segment.byteSize());
    if (!segment.isNative()) {
      throw new IllegalArgumentException("heap memory can not be sent or received; use native");
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("the memory is closed");
    }
  }

  static void checkSource(MemorySegment source, long offset, long bytes) {
    check(source, offset, bytes);
    if (bytes < 1) {
      throw new IllegalArgumentException("send of no bytes; ask for at least 1");
    }
  }

  static void checkTarget(MemorySegment target, long offset, long bytes) {
    check(target, offset, bytes);
    if (bytes < 1) {
      throw new IllegalArgumentException("receive of no bytes; ask for at least 1");
    }
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("can not receive into a read-only segment");
    }
  }

  static long sendOnce(int fd, MemorySegment source, long offset, long bytes) {
    return sendOnce(fd, source, offset, bytes, 0);
  }

  private static long sendOnce(int fd, MemorySegment source, long offset, long bytes, int flags) {
    MemorySegment range = source.asSlice(offset, bytes);
    long result;
    do {
      result = SocketCalls.send(fd, range, bytes, flags);
    } while (result == -Errno.EINTR);
    return orThrow("send", fd, result);
  }

  static void sendAll(int fd, MemorySegment source, long offset, long bytes) {
    sendAll(fd, source, offset, bytes, 0);
  }

  static void sendAll(int fd, MemorySegment source, long offset, long bytes, int flags) {
    long done = 0;
    while (done < bytes) {
      done += sendOnce(fd, source, offset + done, bytes - done, flags);
    }
  }

  /** Sends a range of a file by reference; the file ends early only if it was cut. */
  static void sendFileAll(int fd, int file, long position, long bytes) {
    long done = 0;
    while (done < bytes) {
      long result = SocketCalls.sendfile(fd, file, position + done, bytes - done);
      if (result == 0) {
        throw new NativeException(
            "sendfile(fd " + fd + ", file " + file + ")", Errno.EINVAL, "the file has ended");
      }
      if (result != -Errno.EINTR) {
        done += orThrow("sendfile", fd, result);
      }
    }
  }

  static long receiveOnce(int fd, MemorySegment target, long offset, long bytes, int flags) {
    MemorySegment range = target.asSlice(offset, bytes);
    long result;
    do {
      result = SocketCalls.recv(fd, range, bytes, flags);
    } while (result == -Errno.EINTR);
    return orThrow("recv", fd, result);
  }

  /** Receives until all is there or the stream ends; the count is short only at the end. */
  static long receiveAll(int fd, MemorySegment target, long offset, long bytes) {
    long done = 0;
    while (done < bytes) {
      long result = receiveOnce(fd, target, offset + done, bytes - done, SocketCalls.MSG_WAITALL);
      if (result == 0) {
        break;
      }
      done += result;
    }
    return done;
  }

  static long sendOnce(int fd, IoVector source) {
    long result;
    do {
      result = source.send(fd);
    } while (result == -Errno.EINTR);
    source.advance(orThrow("sendmsg", fd, result));
    return result;
  }

  static void sendAll(int fd, IoVector source) {
    while (source.remaining() > 0) {
      sendOnce(fd, source);
    }
  }

  static long receiveOnce(int fd, IoVector target, int flags) {
    long result;
    do {
      result = target.receive(fd, flags);
    } while (result == -Errno.EINTR);
    target.advance(orThrow("recvmsg", fd, result));
    return result;
  }

  static long receiveAll(int fd, IoVector target) {
    long done = 0;
    while (target.remaining() > 0) {
      long result = receiveOnce(fd, target, SocketCalls.MSG_WAITALL);
      if (result == 0) {
        break;
      }
      done += result;
    }
    return done;
  }

  /** As {@link #orThrow}; -1 for a call that would have waited, or met a signal. */
  static long orNothing(String call, int fd, long result) {
    if (result == -Errno.EAGAIN || result == -Errno.EINTR) {
      return -1;
    }
    return orThrow(call, fd, result);
  }

  static long orThrow(String call, int fd, long result) {
    if (result < 0) {
      throw new NativeException(call + "(fd " + fd + ")", (int) -result);
    }
    return result;
  }
}
