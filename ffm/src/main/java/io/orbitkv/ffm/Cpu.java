package io.orbitkv.ffm;

/** The processor that the calling thread runs on. */
public final class Cpu {
  private Cpu() {}

  /** Lets another runnable thread have the processor; returns at once if there is none. */
  public static void yieldNow() {
    WaitCalls.schedYield();
  }
}
