package io.orbitkv.ffm;

/**
 * A system call failed. The message is one line: the call with its arguments, the error's name, its
 * text and, where one is known, the fix.
 */
public final class NativeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String call;
  private final int errno;

  /**
   * A failed call.
   *
   * @param call the call with the arguments that matter, such as {@code "memfd_create(pool)"}
   * @param errno the error number, positive
   */
  public NativeException(String call, int errno) {
    super(call + ": " + Errno.name(errno) + " " + Errno.text(errno));
    this.call = call;
    this.errno = errno;
  }

  /** As the other constructor, with what the reader can do about it. */
  public NativeException(String call, int errno, String fix) {
    super(call + ": " + Errno.name(errno) + " " + Errno.text(errno) + "; " + fix);
    this.call = call;
    this.errno = errno;
  }

  /** The call that failed. */
  public String call() {
    return call;
  }

  /** The error number, positive; compare with the constants of {@link Errno}. */
  public int errno() {
    return errno;
  }

  /** The error's symbolic name, such as {@code "EBADF"}. */
  public String errnoName() {
    return Errno.name(errno);
  }
}
