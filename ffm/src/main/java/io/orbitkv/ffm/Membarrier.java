package io.orbitkv.ffm;

/**
 * A memory barrier on every running thread of the processes that registered, so that the frequent
 * side of a protocol between processes can do without one. Thread-safe.
 */
public final class Membarrier {
  // linux/membarrier.h
  private static final int QUERY = 0;
  private static final int GLOBAL_EXPEDITED = 2;
  private static final int REGISTER_GLOBAL_EXPEDITED = 4;
  private static final int NEEDED = GLOBAL_EXPEDITED | REGISTER_GLOBAL_EXPEDITED;

  private Membarrier() {}

  /** Whether this kernel offers the barrier. */
  public static boolean supported() {
    long commands = WaitCalls.membarrier(QUERY);
    return commands > 0 && (commands & NEEDED) == NEEDED;
  }

  /**
   * Checks that this kernel offers the barrier, before anybody depends on it.
   *
   * @throws NativeException in one line, with the fix, if it does not
   */
  public static void require() {
    long commands = WaitCalls.membarrier(QUERY);
    if (commands < 0) {
      throw refused("QUERY", (int) -commands);
    }
    if ((commands & NEEDED) != NEEDED) {
      throw refused("QUERY: commands 0x" + Long.toHexString(commands), Errno.EINVAL);
    }
  }

  /**
   * Registers this process to receive barriers; lasts until it exits. A process that is not
   * registered is not ordered by a {@link #barrier()}, whoever asks for it.
   *
   * @throws NativeException if the kernel refuses; EINVAL where it is not {@link #supported()}
   */
  public static void register() {
    call(REGISTER_GLOBAL_EXPEDITED, "REGISTER_GLOBAL_EXPEDITED");
  }

  /**
   * Returns after every running thread of every registered process has passed a full barrier. Costs
   * microseconds; for the rare side.
   *
   * @throws NativeException if the kernel refuses
   */
  public static void barrier() {
    call(GLOBAL_EXPEDITED, "GLOBAL_EXPEDITED");
  }

  private static void call(int command, String name) {
    long result = WaitCalls.membarrier(command);
    if (result < 0) {
      throw refused(name, (int) -result);
    }
  }

  private static NativeException refused(String command, int errno) {
    return new NativeException(
        "membarrier(" + command + ")", errno, "needs Linux 4.16 and no seccomp filter against it");
  }
}
