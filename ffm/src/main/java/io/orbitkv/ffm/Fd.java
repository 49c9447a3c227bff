package io.orbitkv.ffm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Owns one file descriptor. Thread-safe.
 *
 * <p>{@link #close()} first marks it closed, so that no new call enters, and the number goes back
 * to the kernel when the last thread between {@link #enter()} and {@link #leave()} has left. So a
 * number is never used again under a thread that is still inside a call on it. {@code close()}
 * itself never waits and never ends a stuck call: that takes a shutdown or an event.
 */
public final class Fd implements AutoCloseable {
  private static final VarHandle USERS;
  private static final int CLOSED = Integer.MIN_VALUE;

  static {
    try {
      USERS = MethodHandles.lookup().findVarHandle(Fd.class, "users", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final int number;

  /** Threads inside a call; with the sign bit once closed. */
  @SuppressWarnings({"unused", "FieldCanBeFinal"}) // reached through USERS only
  private volatile int users;

  private Fd(int number) {
    this.number = number;
  }

  /**
   * Takes ownership of an open descriptor; nobody else may close it from now on.
   *
   * @throws IllegalArgumentException if the number is negative
   */
  public static Fd adopt(int number) {
    if (number < 0) {
      throw new IllegalArgumentException("descriptor " + number + ": must not be negative");
    }
    return new Fd(number);
  }

  /** Adopts a call's result, or throws for its negated error number. */
  static Fd adoptResult(String call, int result) {
    if (result < 0) {
      throw new NativeException(call, -result);
    }
    return new Fd(result);
  }

  /**
   * The number, for a call that the owner itself makes and ends before it closes this.
   *
   * @throws IllegalStateException if closed
   */
  public int number() {
    if ((int) USERS.getVolatile(this) < 0) {
      throw closed();
    }
    return number;
  }

  /** Whether neither {@link #close()} nor {@link #release()} was called. */
  public boolean isOpen() {
    return (int) USERS.getVolatile(this) >= 0;
  }

  /**
   * Begins a call: the number stays this file's until the {@link #leave()} that the caller owes.
   *
   * @throws IllegalStateException if closed; then no {@code leave()} is owed
   */
  public int enter() {
    while (true) {
      int seen = (int) USERS.getVolatile(this);
      if (seen < 0) {
        throw closed();
      }
      if (USERS.compareAndSet(this, seen, seen + 1)) {
        return number;
      }
    }
  }

  /** Ends a call begun with {@link #enter()}; the last one out gives a closed number back. */
  public void leave() {
    int before = (int) USERS.getAndAdd(this, -1);
    if (before == CLOSED + 1) {
      giveBack();
    }
  }

  /**
   * A second descriptor of the same open file, close-on-exec, owned by the caller.
   *
   * @throws IllegalStateException if closed
   */
  public Fd duplicate() {
    int own = enter();
    try {
      return adoptResult(
          "fcntl(" + this + ", F_DUPFD_CLOEXEC)",
          FileCalls.fcntl(own, FileCalls.F_DUPFD_CLOEXEC, 0));
    } finally {
      leave();
    }
  }

  /**
   * Gives ownership to the caller, who closes the returned number by other means.
   *
   * @throws IllegalStateException if closed, or if a thread is inside a call on it
   */
  public int release() {
    if (!USERS.compareAndSet(this, 0, CLOSED)) {
      int seen = (int) USERS.getVolatile(this);
      throw seen < 0
          ? closed()
          : new IllegalStateException(this + " is inside a call; release it after the call");
    }
    return number;
  }

  /**
   * Closes it for new calls; see the type for when the number goes back.
   *
   * @throws IllegalStateException if already closed or released
   */
  @Override
  public void close() {
    int before = (int) USERS.getAndBitwiseOr(this, CLOSED);
    if (before < 0) {
      throw closed();
    }
    if (before == 0) {
      giveBack();
    }
  }

  @Override
  public String toString() {
    return "fd " + number;
  }

  private IllegalStateException closed() {
    return new IllegalStateException(this + " is already closed");
  }

  private void giveBack() {
    int result = FileCalls.close(number);
    // EINTR: Linux has released the number all the same, and a retry could close another's file.
    if (result < 0 && result != -Errno.EINTR) {
      throw new NativeException("close(" + this + ")", -result);
    }
  }
}
