package io.orbitkv.manager.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.ffm.PageSize;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.Pool;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No ticket leaves a limit of a READ, and together they carry every byte once. */
class TicketPlannerTest {
  private static final int PAGE = (int) PageSize.bytes();

  private final Pool pool = new Pool(64L * PAGE);
  private final List<Allocation> allocations = new ArrayList<>();

  private record Granted(GrantId grant, int ranges, long bytes) implements RemoteRegion {
    @Override
    public long length(int range) {
      return bytes;
    }
  }

  @AfterEach
  void end() {
    pool.holds()
        .forEach(
            hold -> {
              pool.retire(hold.allocation());
              hold.end();
            });
    pool.close();
  }

  private List<Batch> plan(TransferLimits limits, int blocks, long bytes) {
    TicketPlanner planner =
        new TicketPlanner(new Granted(new GrantId(1, 1, Epoch.random()), blocks, bytes), limits);
    for (int i = 0; i < blocks; i++) {
      Allocation allocation = pool.reserve(bytes, "test").orElseThrow().allocation();
      allocations.add(allocation);
      planner.add(allocation, i, bytes);
    }
    return planner.plan().stream().map(PlannedTicket::batch).toList();
  }

  private static void assertWithin(TransferLimits limits, List<Batch> batches, long total) {
    long bytes = 0;
    for (Batch batch : batches) {
      assertThat(batch.bytes()).isBetween(1L, limits.maxReadBytes());
      assertThat(batch.size()).isLessThanOrEqualTo(limits.maxDescriptors());
      for (int i = 0; i < batch.size(); i++) {
        assertThat(batch.local(i).bytes()).isBetween(1L, limits.maxDescriptorBytes());
        assertThat(batch.remote(i).bytes()).isEqualTo(batch.local(i).bytes());
      }
      bytes += batch.bytes();
    }
    assertThat(bytes).isEqualTo(total);
  }

  // Guard: maxReadBytes in TicketPlanner.add.
  @Test
  void payloadOfATicketIsLimited() {
    TransferLimits limits = new TransferLimits(PAGE + 1, 100, 1 << 20);
    List<Batch> batches = plan(limits, 3, 4L * PAGE);
    assertThat(batches).hasSize(12);
    assertWithin(limits, batches, 12L * PAGE);
  }

  // Guard: maxDescriptors in TicketPlanner.add.
  @Test
  void entriesOfATicketAreLimited() {
    TransferLimits limits = new TransferLimits(1 << 20, 3, 1 << 20);
    List<Batch> batches = plan(limits, 10, 7);
    assertThat(batches).hasSize(4);
    assertWithin(limits, batches, 70);
  }

  // Guard: maxDescriptorBytes in TicketPlanner.add.
  @Test
  void bytesOfAnEntryAreLimited() {
    TransferLimits limits = new TransferLimits(1 << 20, 100, 1_000);
    List<Batch> batches = plan(limits, 2, 4_001);
    assertThat(batches).singleElement().satisfies(b -> assertThat(b.size()).isEqualTo(10));
    assertWithin(limits, batches, 8_002);
  }
}
