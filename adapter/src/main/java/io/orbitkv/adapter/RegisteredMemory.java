package io.orbitkv.adapter;

import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Mapping;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Shared memory of this process that the Manager may read, made by {@link
 * ManagerClient#allocate(long)}. Owned by the caller, who fills it and publishes blocks out of it.
 * Thread-safe; the bytes themselves are the caller's to order.
 */
public final class RegisteredMemory implements AutoCloseable {
  private final Mapping mapping;
  private final RegistrationId registration;
  private final ManagerClient client;
  private final Consumer<RegisteredMemory> withdraw;
  private final AtomicBoolean closed = new AtomicBoolean();

  RegisteredMemory(
      Mapping mapping,
      RegistrationId registration,
      ManagerClient client,
      Consumer<RegisteredMemory> withdraw) {
    this.mapping = mapping;
    this.registration = registration;
    this.client = client;
    this.withdraw = withdraw;
  }

  RegistrationId registration() {
    return registration;
  }

  boolean isOf(ManagerClient other) {
    return client == other;
  }

  /**
   * The memory, readable and writable, zero at first; any use after {@link #close()} throws.
   *
   * @throws TransportException DENIED in a forked child, which has no mapping of it
   */
  public MemorySegment segment() {
    OwnProcess.check();
    return mapping.segment();
  }

  /** Its length, bytes. */
  public long bytes() {
    return mapping.bytes();
  }

  /**
   * Withdraws it: publishes that are still queued fail, copies under way end first. Then unmaps it.
   * Waits for the Manager's answer for the client's timeout; without a connection there is nothing
   * to wait for. No thread may be using the segment.
   *
   * @throws IllegalStateException if already closed, or while another thread uses the segment
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      throw new IllegalStateException("this registered memory is already closed");
    }
    try {
      withdraw.accept(this);
    } finally {
      mapping.close();
    }
  }
}
