package io.orbitkv.ffm;

/**
 * What differs between the machines we run on: system call numbers without a libc symbol that every
 * supported glibc has.
 *
 * @param futex SYS_futex, asm/unistd_64.h and asm-generic/unistd.h
 * @param membarrier SYS_membarrier, same headers
 * @param pidfdOpen SYS_pidfd_open, same headers
 */
record Abi(long futex, long membarrier, long pidfdOpen) {
  private static final Abi X86_64 = new Abi(202, 324, 434);
  private static final Abi AARCH64 = new Abi(98, 283, 434);

  /** The numbers of this machine; throws if it is not one that we know. */
  static Abi current() {
    String system = System.getProperty("os.name", "");
    String machine = System.getProperty("os.arch", "");
    if (system.equals("Linux") && machine.equals("amd64")) {
      return X86_64;
    }
    if (system.equals("Linux") && machine.equals("aarch64")) {
      return AARCH64;
    }
    throw new UnsupportedOperationException(
        "OrbitKV's native calls: "
            + system
            + " on "
            + machine
            + " is not supported; run on Linux x86_64 or aarch64");
  }
}
