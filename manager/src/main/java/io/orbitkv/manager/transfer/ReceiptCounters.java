package io.orbitkv.manager.transfer;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.Side;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts the receipts that were spent, by side and evidence, and those that were refused. */
public final class ReceiptCounters {
  private final Map<Side, Map<Evidence, LongAdder>> spent = new EnumMap<>(Side.class);
  private final LongAdder refused = new LongAdder();

  /** All at zero. */
  public ReceiptCounters() {
    for (Side side : Side.values()) {
      Map<Evidence, LongAdder> byEvidence = new EnumMap<>(Evidence.class);
      for (Evidence evidence : Evidence.values()) {
        byEvidence.put(evidence, new LongAdder());
      }
      spent.put(side, byEvidence);
    }
  }

  void countSpent(DrainReceipt receipt) {
    count(receipt.subject().side(), receipt.evidence()).increment();
  }

  void countRefused() {
    refused.increment();
  }

  /** Receipts of this side and evidence that were spent. */
  public long spent(Side side, Evidence evidence) {
    return count(side, evidence).sum();
  }

  /** Receipts that did not fit what they were presented for. */
  public long refused() {
    return refused.sum();
  }

  private LongAdder count(Side side, Evidence evidence) {
    LongAdder adder = spent.getOrDefault(side, Map.of()).get(evidence);
    if (adder == null) {
      throw new AssertionError(side + " " + evidence);
    }
    return adder;
  }
}
