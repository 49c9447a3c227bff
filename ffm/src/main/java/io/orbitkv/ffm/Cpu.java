package io.orbitkv.ffm;

/** Who has the processor. */
public final class Cpu {
  private static final int MOST_NICE = 19;

  private Cpu() {}

  /** Lets another runnable thread have the processor; returns at once if there is none. */
  public static void yieldNow() {
    WaitCalls.schedYield();
  }

  /**
   * Makes a thread give way to others: it gets the less of a processor that several want, and all
   * of one that nobody wants. It holds for the threads that it starts from then on, too.
   *
   * @param threadId the kernel's number of a thread of this process, as in /proc/self/task
   * @param nice from 0, as any other, to 19; see setpriority(2)
   * @throws NativeException ESRCH if there is no such thread, EACCES if it gave way more before
   */
  public static void giveWay(int threadId, int nice) {
    if (threadId < 1 || nice < 0 || nice > MOST_NICE) {
      throw new IllegalArgumentException(
          "thread " + threadId + ", nice " + nice + ": a thread, and 0 to " + MOST_NICE);
    }
    int result = WaitCalls.setNiceness(threadId, nice);
    if (result < 0) {
      throw new NativeException("setpriority(thread " + threadId + ", " + nice + ")", -result);
    }
  }
}
