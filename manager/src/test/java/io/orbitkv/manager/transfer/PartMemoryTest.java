package io.orbitkv.manager.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.Side;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Peer.TicketOptions;
import io.orbitkv.ffm.PageSize;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.Pool;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class PartMemoryTest {
  private static final long PAGE = PageSize.bytes();
  private static final int BLOCKS = 4;

  private final Pool pool = new Pool(BLOCKS * PAGE);
  private final Catalog catalog = new Catalog(pool);
  private final Epoch epoch = Epoch.random();
  private final ReceiptIssuer issuer =
      new ReceiptIssuer("test", epoch, Map.of(Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED)));

  private static BlockName name(int index) {
    return BlockName.of("test", String.valueOf(index).getBytes(StandardCharsets.UTF_8));
  }

  // Guard: the try around each block in PartMemory.seal. Without it the holds of those behind the
  // one that fails are lost.
  @Test
  void aBlockThatFailsToBeTakenLosesNoOther() {
    try (DigestChecks digests = new DigestChecks();
        DrainCoordinator coordinator =
            new DrainCoordinator(issuer, new ReceiptCounters(), Long.MAX_VALUE)) {
      // No ticket is submitted here.
      FetchContext context =
          new FetchContext(
              pool,
              catalog,
              noTickets(coordinator),
              new TransferLimits(1 << 20, 16, 1 << 20),
              digests,
              new FetchTimes(),
              epoch);
      List<WantedBlock> wanted = new ArrayList<>();
      List<GrantOffer.GrantedRange> ranges = new ArrayList<>();
      for (int i = 0; i < BLOCKS; i++) {
        wanted.add(new WantedBlock(i, name(i), PAGE));
        ranges.add(new GrantOffer.GrantedRange(i, PAGE));
      }
      GrantId grant = new GrantId(1, 1, epoch);
      PartMemory memory =
          new PartMemory(context, "owner", wanted, PartRead.Guess.NONE, new TicketId(1, epoch));
      memory.reserve();
      memory
          .plan(new GrantOffer(grant, ranges, 1, new byte[0]), new Granted(grant))
          .forEach(planned -> assertThat(planned.batch().bytes()).isEqualTo(BLOCKS * PAGE));
      AtomicBoolean failed = new AtomicBoolean();
      List<Hold> taken = new ArrayList<>();
      memory.seal(
          Set.of(),
          "operation",
          (block, hold) -> {
            if (failed.compareAndSet(false, true)) {
              throw new IllegalStateException("the first one that comes");
            }
            taken.add(hold);
            return true;
          });
      assertThat(taken).hasSize(BLOCKS - 1);
      assertThat(catalog.size()).isEqualTo(BLOCKS);
      taken.forEach(Hold::end);
      assertThat(pool.usage().holds()).isZero();
    }
  }

  private Tickets noTickets(DrainCoordinator coordinator) {
    return new Tickets(epoch, issuer, coordinator, TicketOptions.NONE);
  }

  private record Granted(GrantId grant) implements RemoteRegion {
    @Override
    public int ranges() {
      return BLOCKS;
    }

    @Override
    public long length(int range) {
      return PAGE;
    }
  }
}
