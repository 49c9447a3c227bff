package io.orbitkv.bench;

import java.time.Duration;

/** The processor time of processes. */
public final class ProcessCpu {
  private ProcessCpu() {}

  /** Of this process since its start, nanoseconds; in steps of the kernel's clock tick. */
  static long ownNanos() {
    return nanos(ProcessHandle.current());
  }

  /** Of a process of this host since its start, nanoseconds; 0 if it has ended. */
  public static long nanos(ProcessHandle process) {
    return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
  }
}
