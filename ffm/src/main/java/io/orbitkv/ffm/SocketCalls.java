package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Socket calls. Each returns the result, or the negated error number. */
final class SocketCalls {
  // linux/socket.h
  static final int AF_UNIX = 1;
  static final int AF_INET = 2;
  static final int AF_INET6 = 10;
  static final int MSG_PEEK = 2;
  static final int MSG_CTRUNC = 8;
  static final int MSG_DONTWAIT = 0x40;
  static final int MSG_WAITALL = 0x100;
  static final int MSG_NOSIGNAL = 0x4000;
  static final int MSG_MORE = 0x8000;
  static final int MSG_CMSG_CLOEXEC = 0x40000000;
  static final int SCM_RIGHTS = 1;
  // linux/net.h
  static final int SOCK_STREAM = 1;
  static final int SOCK_NONBLOCK = 04000;
  static final int SOCK_CLOEXEC = 02000000;

  private static final MethodHandle SOCKET =
      Downcall.bind("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle BIND =
      Downcall.bind("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle CONNECT =
      Downcall.bind("connect", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle LISTEN = Downcall.bind("listen", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle ACCEPT4 =
      Downcall.bind("accept4", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);
  private static final MethodHandle SHUTDOWN =
      Downcall.bind("shutdown", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final MethodHandle GETSOCKNAME =
      Downcall.bind("getsockname", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle GETPEERNAME =
      Downcall.bind("getpeername", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle GETSOCKOPT =
      Downcall.bind("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle SETSOCKOPT =
      Downcall.bind("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle SEND =
      Downcall.bind("send", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final MethodHandle RECV =
      Downcall.bind("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final MethodHandle RECV_NOW =
      Downcall.bindCritical("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
  private static final MethodHandle SENDMSG =
      Downcall.bind("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);
  private static final MethodHandle RECVMSG =
      Downcall.bind("recvmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);

  private static final MethodHandle SENDFILE =
      Downcall.bind("sendfile", JAVA_LONG, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG);

  private SocketCalls() {}

  static int socket(int family, int type) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) SOCKET.invokeExact(own.capture, family, type, 0));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int bind(int fd, MemorySegment address) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (int) BIND.invokeExact(own.capture, fd, address, (int) address.byteSize()));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int connect(int fd, MemorySegment address) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (int) CONNECT.invokeExact(own.capture, fd, address, (int) address.byteSize()));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int listen(int fd, int backlog) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) LISTEN.invokeExact(own.capture, fd, backlog));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  /**
   * Waits for a connection; a signal or a connection that was given up meanwhile is passed over.
   */
  static int accept(int fd) {
    CallState own = CallState.own();
    int result;
    do {
      try {
        result =
            own.orErrno(
                (int)
                    ACCEPT4.invokeExact(
                        own.capture, fd, MemorySegment.NULL, MemorySegment.NULL, SOCK_CLOEXEC));
      } catch (Throwable t) {
        throw Downcall.rethrow(t);
      }
    } while (result == -Errno.EINTR || result == -Errno.ECONNABORTED || result == -Errno.EPROTO);
    return result;
  }

  static int shutdown(int fd, int how) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) SHUTDOWN.invokeExact(own.capture, fd, how));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int getsockname(int fd, MemorySegment address, MemorySegment length) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) GETSOCKNAME.invokeExact(own.capture, fd, address, length));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int getpeername(int fd, MemorySegment address, MemorySegment length) {
    CallState own = CallState.own();
    try {
      return own.orErrno((int) GETPEERNAME.invokeExact(own.capture, fd, address, length));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int getsockopt(int fd, int level, int option, MemorySegment value, MemorySegment length) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (int) GETSOCKOPT.invokeExact(own.capture, fd, level, option, value, length));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static int setsockopt(int fd, int level, int option, MemorySegment value, int length) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (int) SETSOCKOPT.invokeExact(own.capture, fd, level, option, value, length));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static long send(int fd, MemorySegment source, long bytes, int flags) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (long) SEND.invokeExact(own.capture, fd, source, bytes, flags | MSG_NOSIGNAL));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  /** From a position of a file, which its own position has no part in. */
  static long sendfile(int fd, int file, long position, long bytes) {
    CallState own = CallState.own();
    own.words.set(JAVA_LONG, 0, position);
    try {
      return own.orErrno((long) SENDFILE.invokeExact(own.capture, fd, file, own.words, bytes));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static long recv(int fd, MemorySegment target, long bytes, int flags) {
    CallState own = CallState.own();
    try {
      return own.orErrno((long) RECV.invokeExact(own.capture, fd, target, bytes, flags));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  /** One byte into the thread's own words, neither waiting nor taking it from the socket. */
  static long peekNow(int fd) {
    CallState own = CallState.own();
    try {
      return own.orErrno(
          (long) RECV_NOW.invokeExact(own.capture, fd, own.words, 1L, MSG_PEEK | MSG_DONTWAIT));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  /** As recv with MSG_DONTWAIT, which never blocks: no thread state transition. */
  static long recvNow(int fd, MemorySegment target, long bytes) {
    CallState own = CallState.own();
    try {
      return own.orErrno((long) RECV_NOW.invokeExact(own.capture, fd, target, bytes, MSG_DONTWAIT));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static long sendmsg(int fd, MemorySegment header) {
    CallState own = CallState.own();
    try {
      return own.orErrno((long) SENDMSG.invokeExact(own.capture, fd, header, MSG_NOSIGNAL));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  static long recvmsg(int fd, MemorySegment header, int flags) {
    CallState own = CallState.own();
    try {
      return own.orErrno((long) RECVMSG.invokeExact(own.capture, fd, header, flags));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }
}
