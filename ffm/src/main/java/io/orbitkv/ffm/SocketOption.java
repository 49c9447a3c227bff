package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Getting and setting of socket options, by level and number. */
record SocketOption(String name, int level, int number) {
  // asm-generic/socket.h
  private static final int SOL_SOCKET = 1;
  static final SocketOption REUSE_ADDRESS = new SocketOption("SO_REUSEADDR", SOL_SOCKET, 2);
  static final SocketOption ERROR = new SocketOption("SO_ERROR", SOL_SOCKET, 4);
  static final SocketOption SEND_BUFFER = new SocketOption("SO_SNDBUF", SOL_SOCKET, 7);
  static final SocketOption RECEIVE_BUFFER = new SocketOption("SO_RCVBUF", SOL_SOCKET, 8);
  static final SocketOption KEEP_ALIVE = new SocketOption("SO_KEEPALIVE", SOL_SOCKET, 9);
  static final SocketOption PEER_CREDENTIALS = new SocketOption("SO_PEERCRED", SOL_SOCKET, 17);
  static final SocketOption RECEIVE_TIMEOUT = new SocketOption("SO_RCVTIMEO", SOL_SOCKET, 20);
  static final SocketOption SEND_TIMEOUT = new SocketOption("SO_SNDTIMEO", SOL_SOCKET, 21);
  static final SocketOption PEER_GROUPS = new SocketOption("SO_PEERGROUPS", SOL_SOCKET, 59);
  static final SocketOption PEER_PIDFD = new SocketOption("SO_PEERPIDFD", SOL_SOCKET, 77);
  // linux/tcp.h
  private static final int IPPROTO_TCP = 6;
  static final SocketOption NO_DELAY = new SocketOption("TCP_NODELAY", IPPROTO_TCP, 1);
  static final SocketOption KEEP_IDLE = new SocketOption("TCP_KEEPIDLE", IPPROTO_TCP, 4);
  static final SocketOption KEEP_INTERVAL = new SocketOption("TCP_KEEPINTVL", IPPROTO_TCP, 5);
  static final SocketOption KEEP_COUNT = new SocketOption("TCP_KEEPCNT", IPPROTO_TCP, 6);
  static final SocketOption INFO = new SocketOption("TCP_INFO", IPPROTO_TCP, 11);
  static final SocketOption CONGESTION = new SocketOption("TCP_CONGESTION", IPPROTO_TCP, 13);
  static final SocketOption USER_TIMEOUT = new SocketOption("TCP_USER_TIMEOUT", IPPROTO_TCP, 18);
  static final SocketOption UNSENT = new SocketOption("TCP_NOTSENT_LOWAT", IPPROTO_TCP, 25);
  // linux/in6.h
  static final SocketOption V6_ONLY = new SocketOption("IPV6_V6ONLY", 41, 26);

  int get(Fd fd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(JAVA_INT);
      int result = read(fd, value);
      if (result < 0) {
        throw failed("getsockopt", fd, result);
      }
      return value.get(JAVA_INT, 0);
    }
  }

  void set(Fd fd, int value) {
    try (Arena arena = Arena.ofConfined()) {
      set(fd, arena.allocateFrom(JAVA_INT, value));
    }
  }

  void set(Fd fd, MemorySegment value) {
    int result = write(fd, value);
    if (result < 0) {
      throw failed("setsockopt", fd, result);
    }
  }

  /** Fills a value; its length, or the negated error number. */
  int read(Fd fd, MemorySegment value) {
    int number = fd.enter();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment length = arena.allocateFrom(JAVA_INT, (int) value.byteSize());
      int result = SocketCalls.getsockopt(number, level, this.number, value, length);
      return result < 0 ? result : length.get(JAVA_INT, 0);
    } finally {
      fd.leave();
    }
  }

  int write(Fd fd, MemorySegment value) {
    int number = fd.enter();
    try {
      return SocketCalls.setsockopt(number, level, this.number, value, (int) value.byteSize());
    } finally {
      fd.leave();
    }
  }

  NativeException failed(String call, Fd fd, int result) {
    return new NativeException(call + "(" + fd + ", " + name + ")", -result);
  }
}
