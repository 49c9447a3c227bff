package io.orbitkv.provider.tcp;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Meters;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ObjLongConsumer;

/**
 * The source holds of one transport that have no receipt yet, by grant; and the latest generation
 * of the last grant ids, so that a late READ hears that its grant ended. Thread-safe.
 */
final class GrantTable {
  private static final int REMEMBERED = 4_096;

  private final ReceiptIssuer receipts;
  private final Meters.Gauge gauge;
  private final ObjLongConsumer<TcpSourceHold> endStuckReplies;
  private final Map<GrantId, TcpSourceHold> open = new ConcurrentHashMap<>();
  private final Map<Long, Long> latest =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
          return size() > REMEMBERED;
        }
      };
  private final Object drained = new Object();

  /**
   * An empty table.
   *
   * @param receipts mints the receipts
   * @param gauge how many holds have no receipt
   * @param endStuckReplies starts the end of the replies that are stuck inside a retired hold,
   *     after so many ns at most; must not block
   */
  GrantTable(
      ReceiptIssuer receipts, Meters.Gauge gauge, ObjLongConsumer<TcpSourceHold> endStuckReplies) {
    this.receipts = receipts;
    this.gauge = gauge;
    this.endStuckReplies = endStuckReplies;
  }

  /**
   * Makes a hold known.
   *
   * @throws TransportException IN_USE if this very grant has no receipt yet
   */
  void add(TcpSourceHold hold) {
    GrantId grant = hold.grant();
    if (open.putIfAbsent(grant, hold) != null) {
      throw new TransportException(FaultCode.IN_USE, grant + " is admitted and not drained");
    }
    gauge.add(1);
    synchronized (latest) {
      latest.merge(grant.id(), grant.generation(), Math::max);
    }
  }

  /**
   * Finds the hold of exactly this use of a grant's id.
   *
   * @throws ReadRefusedException NOT_FOUND, STALE_GENERATION or GRANT_ENDED
   */
  TcpSourceHold find(long id, long generation) throws ReadRefusedException {
    TcpSourceHold hold = open.get(new GrantId(id, generation, receipts.epoch()));
    if (hold != null) {
      return hold;
    }
    Long last;
    synchronized (latest) {
      last = latest.get(id);
    }
    if (last == null || generation > last) {
      throw new ReadRefusedException(FaultCode.NOT_FOUND);
    }
    throw new ReadRefusedException(
        generation == last ? FaultCode.GRANT_ENDED : FaultCode.STALE_GENERATION);
  }

  /** Mints a receipt. */
  DrainReceipt issue(GrantId grant, Evidence evidence) {
    return receipts.issue(grant, evidence);
  }

  /** A hold has its receipt. */
  void remove(TcpSourceHold hold) {
    if (open.remove(hold.grant(), hold)) {
      gauge.add(-1);
    }
  }

  List<TcpSourceHold> holds() {
    return new ArrayList<>(open.values());
  }

  int size() {
    return open.size();
  }

  void endStuckReplies(TcpSourceHold hold, long atMostNanos) {
    endStuckReplies.accept(hold, atMostNanos);
  }

  /** A hold has just drained. */
  void drained() {
    synchronized (drained) {
      drained.notifyAll();
    }
  }

  /** Waits until every hold of the list is drained, or until the deadline of System.nanoTime(). */
  void awaitDrained(List<TcpSourceHold> holds, long deadlineNanos) {
    boolean interrupted = false;
    synchronized (drained) {
      while (!holds.stream().allMatch(TcpSourceHold::drained)) {
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0 || interrupted) {
          break;
        }
        try {
          drained.wait(left / 1_000_000, (int) (left % 1_000_000));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
