package io.orbitkv.api.provider;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.Side;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Meters;
import io.orbitkv.api.spi.ProviderContext;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/** What a Manager would lend: a real issuer, and so many places in the budget. */
record LentContext(ReceiptIssuer receipts, int limit, AtomicInteger places)
    implements ProviderContext {
  private static final Set<Evidence> QUIESCED = Set.of(Evidence.LOCAL_QUIESCED);

  static final Capabilities CAPABILITIES =
      new Capabilities(
          Set.of(MemoryKind.Type.HOST),
          Map.of(Side.DESTINATION, QUIESCED, Side.SOURCE, QUIESCED),
          1 << 16,
          64,
          true,
          true);

  static LentContext of(int limit) {
    return new LentContext(
        new ReceiptIssuer("parts", Epoch.random(), CAPABILITIES.evidence()),
        limit,
        new AtomicInteger());
  }

  @Override
  public AdmissionBudget budget() {
    return _ -> {
      if (places.incrementAndGet() > limit) {
        places.decrementAndGet();
        throw new TransportException(FaultCode.EXHAUSTED, limit + " batches, the limit");
      }
      return places::decrementAndGet;
    };
  }

  @Override
  public Map<String, String> options() {
    return Map.of();
  }

  @Override
  public String host() {
    return "127.0.0.1";
  }

  @Override
  public Meters meters() {
    return new Meters() {
      @Override
      public Counter counter(String name, String help) {
        return _ -> {};
      }

      @Override
      public Gauge gauge(String name, String help) {
        return _ -> {};
      }
    };
  }

  @Override
  public LongSupplier clock() {
    return System::nanoTime;
  }

  @Override
  public ThreadFactory threads(String purpose) {
    return Thread.ofPlatform().factory();
  }

  @Override
  public long retirementGraceNanos() {
    return TimeUnit.SECONDS.toNanos(5);
  }
}
