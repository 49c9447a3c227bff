package io.orbitkv.adapter.restore;

import io.orbitkv.ffm.Membarrier;
import java.lang.invoke.VarHandle;

/** The barriers of this processor and this kernel. Thread-safe, without a state. */
public final class HostBarriers implements Barriers {
  /** The barriers; needs nothing of the kernel until one is issued. */
  public HostBarriers() {}

  @Override
  public void fence() {
    VarHandle.fullFence();
  }

  /**
   * As declared.
   *
   * @throws io.orbitkv.ffm.NativeException if the kernel has none; ask {@link Membarrier#require()}
   *     before a client that depends on it is let in
   */
  @Override
  public void membarrier() {
    VarHandle.fullFence();
    Membarrier.barrier();
  }
}
