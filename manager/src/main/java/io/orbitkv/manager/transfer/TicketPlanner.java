package io.orbitkv.manager.transfer;

import io.orbitkv.api.Batch;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.manager.memory.Allocation;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Cuts the blocks of one grant into batches that no limit of a ticket refuses. */
final class TicketPlanner {
  private final RemoteRegion source;
  private final TransferLimits limits;
  private final List<PlannedTicket> planned = new ArrayList<>();
  private Batch.@Nullable Builder batch;
  private Set<Allocation> destination = new LinkedHashSet<>();
  private long bytes;
  private int entries;

  TicketPlanner(RemoteRegion source, TransferLimits limits) {
    this.source = source;
    this.limits = limits;
  }

  /** Plans to read all of a granted range into an allocation of the same length. */
  void add(Allocation allocation, int range, long length) {
    long done = 0;
    while (done < length) {
      if (bytes == limits.maxReadBytes() || entries == limits.maxDescriptors()) {
        endTicket();
      }
      long piece =
          Math.min(
              length - done, Math.min(limits.maxDescriptorBytes(), limits.maxReadBytes() - bytes));
      Batch.Builder current = batch == null ? Batch.from(source) : batch;
      current.add(allocation.descriptor(done, piece), RemoteDescriptor.of(range, done, piece));
      batch = current;
      destination.add(allocation);
      bytes += piece;
      entries++;
      done += piece;
    }
  }

  /** The batches, in order. */
  List<PlannedTicket> plan() {
    endTicket();
    return List.copyOf(planned);
  }

  private void endTicket() {
    if (batch != null) {
      planned.add(new PlannedTicket(batch.build(), destination));
    }
    batch = null;
    destination = new LinkedHashSet<>();
    bytes = 0;
    entries = 0;
  }
}
