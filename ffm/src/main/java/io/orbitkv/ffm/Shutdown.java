package io.orbitkv.ffm;

/** Which half of a connection to end; SHUT_RD, SHUT_WR and SHUT_RDWR of linux/net.h. */
public enum Shutdown {
  /** No more is received; a stuck receive ends. */
  READ(0),
  /** No more is sent, and the peer sees the end. */
  WRITE(1),
  /** Both; a stuck send or receive ends. */
  BOTH(2);

  final int code;

  Shutdown(int code) {
    this.code = code;
  }

  /** Ends the half; a connection that has ended by itself is no error. */
  void apply(Fd fd) {
    int number = fd.enter();
    try {
      int result = SocketCalls.shutdown(number, code);
      if (result < 0 && result != -Errno.ENOTCONN) {
        throw new NativeException("shutdown(" + fd + ", " + this + ")", -result);
      }
    } finally {
      fd.leave();
    }
  }
}
