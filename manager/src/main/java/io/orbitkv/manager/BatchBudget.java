package io.orbitkv.manager;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import java.util.concurrent.atomic.AtomicBoolean;

/** The bounds on live and retained batches of one transport, and on their descriptors' bytes. */
final class BatchBudget implements AdmissionBudget {
  private final int maxBatches;
  private final long maxDescriptorBytes;
  private int batches;
  private long descriptorBytes;
  private long refusals;

  BatchBudget(int maxBatches, long maxDescriptorBytes) {
    this.maxBatches = maxBatches;
    this.maxDescriptorBytes = maxDescriptorBytes;
  }

  @Override
  public synchronized Place take(long bytes) {
    if (batches >= maxBatches) {
      refusals++;
      throw new TransportException(
          FaultCode.EXHAUSTED,
          batches + " batches are live or retained, the limit of --max-live-batches; retry later");
    }
    if (bytes < 0 || bytes > maxDescriptorBytes - descriptorBytes) {
      refusals++;
      throw new TransportException(
          FaultCode.EXHAUSTED,
          descriptorBytes
              + " descriptor bytes are live or retained, "
              + bytes
              + " more exceed the limit of --max-descriptor-bytes, "
              + maxDescriptorBytes
              + "; retry later");
    }
    batches++;
    descriptorBytes += bytes;
    AtomicBoolean given = new AtomicBoolean();
    return () -> {
      if (!given.compareAndSet(false, true)) {
        throw new IllegalStateException("a place in the budget was given back twice");
      }
      giveBack(bytes);
    };
  }

  private synchronized void giveBack(long bytes) {
    batches--;
    descriptorBytes -= bytes;
  }

  synchronized int batches() {
    return batches;
  }

  synchronized long descriptorBytes() {
    return descriptorBytes;
  }

  synchronized long refusals() {
    return refusals;
  }
}
