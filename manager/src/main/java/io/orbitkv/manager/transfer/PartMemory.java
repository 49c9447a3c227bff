package io.orbitkv.manager.transfer;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The destination of one part: what is reserved for its blocks, from the reservation until each is
 * sealed or given up. Owned by its part, which ends it once no ticket can touch it. Thread-safe.
 */
final class PartMemory {
  private static final Logger LOG = LoggerFactory.getLogger(PartMemory.class);

  private final FetchContext context;
  private final String owner;
  private final List<WantedBlock> wanted;
  private final PartRead.Guess guess;
  private final TicketId holder;

  // Guarded by this.
  private final Map<WantedBlock, Hold> filling = new HashMap<>();
  private final Set<WantedBlock> reading = new HashSet<>();
  private final PartDigests digests;

  PartMemory(
      FetchContext context,
      String owner,
      List<WantedBlock> wanted,
      PartRead.Guess guess,
      TicketId holder) {
    this.context = context;
    this.owner = owner;
    this.wanted = wanted;
    this.guess = guess;
    this.holder = holder;
    this.digests = new PartDigests(context.digests(), owner);
  }

  /**
   * Pins what is known before the grant: nothing of a guess, so that nothing is evicted for blocks
   * that are not there. Throws if there is no room; what was pinned by then goes with {@link
   * #giveUp}.
   */
  synchronized void reserve() {
    if (guess != PartRead.Guess.NONE) {
      return;
    }
    for (WantedBlock block : wanted) {
      filling.put(block, context.catalog().reserve(block.bytes(), holder));
    }
  }

  /**
   * The tickets that fill it with what was granted.
   *
   * @throws TransportException CORRUPT if the offer is not one for this part, NOT_FOUND if nothing
   *     of it is of use, EXHAUSTED if there is no room
   */
  synchronized List<PlannedTicket> plan(GrantOffer offer, RemoteRegion source) {
    TicketPlanner planner = new TicketPlanner(source, context.limits());
    boolean[] seen = new boolean[wanted.size()];
    for (int range = 0; range < offer.ranges().size(); range++) {
      GrantOffer.GrantedRange block = offer.ranges().get(range);
      int index = block.nameIndex();
      if (range >= source.ranges() || index < 0 || index >= wanted.size() || seen[index]) {
        throw new TransportException(
            FaultCode.CORRUPT, owner + " granted block " + index + ", which was not asked for");
      }
      seen[index] = true;
      WantedBlock want = wanted.get(index);
      if (guess == PartRead.Guess.PREFIX && index != range) {
        // The grant has them in the order of the request, so one before it is missing.
        break;
      }
      Hold memory = source.length(range) == block.bytes() ? destination(want, block) : null;
      if (memory != null) {
        planner.add(memory.allocation(), range, block.bytes());
        reading.add(want);
        digests.expect(want, block.digest());
      }
    }
    if (reading.isEmpty()) {
      throw new TransportException(FaultCode.NOT_FOUND, owner + " has none of the blocks any more");
    }
    return planner.plan();
  }

  /** Gives up what is reserved for blocks that are not in the offer, and names them. */
  synchronized List<WantedBlock> giveUpLeftOut(GrantOffer offer) {
    Set<Integer> included = new HashSet<>();
    offer.ranges().forEach(range -> included.add(range.nameIndex()));
    List<WantedBlock> leftOut = new ArrayList<>();
    for (int i = 0; i < wanted.size(); i++) {
      Hold memory = included.contains(i) ? null : filling.remove(wanted.get(i));
      if (memory != null) {
        context.catalog().abandon(memory);
        leftOut.add(wanted.get(i));
      }
    }
    return leftOut;
  }

  /** Whether a block has a digest to be compared with before it may be sealed. */
  synchronized boolean hasDigests() {
    return !digests.isEmpty();
  }

  /** Compares every byte of the blocks that have a digest, and names those that are not right. */
  synchronized Set<WantedBlock> mismatched() {
    return digests.mismatched(filling);
  }

  /** The blocks that have a digest: all that may not be sealed unless they were compared. */
  synchronized Set<WantedBlock> withDigest() {
    return digests.all();
  }

  /**
   * Ends it, of a part that completed: seals what was read, and gives up the rest. A block at which
   * a defect shows is a miss, and its memory is held for ever; the others are not touched by it.
   *
   * @param bad what is given up although it was read
   * @param leaseHolder who holds each sealed block
   * @param take is given each sealed block and its hold; the hold ends at once if it says false
   */
  void seal(Set<WantedBlock> bad, Object leaseHolder, BiPredicate<WantedBlock, Hold> take) {
    takeAll()
        .forEach(
            (block, hold) -> {
              try {
                seal(
                    block,
                    hold,
                    reading.contains(block) && !bad.contains(block),
                    leaseHolder,
                    take);
              } catch (RuntimeException | Error e) {
                LOG.error("{} from {} is a miss by a defect", block.name(), owner, e);
                hold.quarantine();
              }
            });
  }

  private void seal(
      WantedBlock block,
      Hold hold,
      boolean good,
      Object leaseHolder,
      BiPredicate<WantedBlock, Hold> take) {
    if (!good) {
      context.catalog().abandon(hold);
      return;
    }
    Hold lease =
        context
            .catalog()
            .sealAndHold(block.name(), hold, digests.of(block), HoldKind.LEASE, leaseHolder);
    boolean taken = false;
    try {
      taken = take.test(block, lease);
    } finally {
      if (!taken) {
        lease.end();
      }
    }
  }

  /** Ends it, of a part that did not complete: nothing is sealed. */
  void giveUp() {
    takeAll().values().forEach(context.catalog()::abandon);
  }

  private synchronized Map<WantedBlock, Hold> takeAll() {
    Map<WantedBlock, Hold> all = new HashMap<>(filling);
    filling.clear();
    return all;
  }

  private @Nullable Hold destination(WantedBlock want, GrantOffer.GrantedRange block) {
    if (guess == PartRead.Guess.NONE) {
      return block.bytes() == want.bytes() ? filling.get(want) : null;
    }
    if (block.bytes() <= 0) {
      return null;
    }
    Hold memory = context.catalog().reserve(block.bytes(), holder);
    filling.put(want, memory);
    return memory;
  }
}
