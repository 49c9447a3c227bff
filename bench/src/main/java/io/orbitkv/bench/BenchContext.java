package io.orbitkv.bench;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Meters;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.TransportProvider;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** What a Manager would lend to one engine. Thread-safe. */
final class BenchContext implements ProviderContext {
  private static final int MAX_BATCHES = 1024;
  private static final long GRACE_NANOS = 5_000_000_000L;
  private static final int EXIT_AFTER_ERROR = 70;

  private final String provider;
  private final Map<String, String> options;
  private final String host;
  private final ReceiptIssuer receipts;
  private final AtomicInteger batches = new AtomicInteger();

  /** Lends to a new incarnation; options that are not given have their default. */
  BenchContext(TransportProvider provider, Map<String, String> given, String host) {
    this.provider = provider.name();
    this.host = host;
    Map<String, String> all = new HashMap<>();
    for (OptionSpec option : provider.options()) {
      all.put(option.name(), option.defaultValue());
    }
    all.putAll(given);
    options = Map.copyOf(all);
    receipts =
        new ReceiptIssuer(
            provider.name(), Epoch.random(), provider.capabilities(options).evidence());
  }

  @Override
  public Map<String, String> options() {
    return options;
  }

  @Override
  public String host() {
    return host;
  }

  @Override
  public ReceiptIssuer receipts() {
    return receipts;
  }

  @Override
  public AdmissionBudget budget() {
    return _ -> {
      if (batches.incrementAndGet() > MAX_BATCHES) {
        batches.decrementAndGet();
        throw new TransportException(
            FaultCode.EXHAUSTED, MAX_BATCHES + " batches are live or retained; use fewer threads");
      }
      AtomicBoolean given = new AtomicBoolean();
      return () -> {
        if (!given.compareAndSet(false, true)) {
          throw new IllegalStateException("a place in the budget was given back twice");
        }
        batches.decrementAndGet();
      };
    };
  }

  @Override
  public Meters meters() {
    return new Meters() {
      @Override
      public Counter counter(String name, String help) {
        return new LongAdder()::add;
      }

      @Override
      public Gauge gauge(String name, String help) {
        return new LongAdder()::add;
      }
    };
  }

  @Override
  public LongSupplier clock() {
    return System::nanoTime;
  }

  @Override
  public ThreadFactory threads(String purpose) {
    return Thread.ofPlatform()
        .daemon()
        .name(provider + "-" + purpose + "-", 1)
        .uncaughtExceptionHandler(
            (thread, failure) -> {
              System.err.println("orbitkv: thread " + thread.getName() + " ended by " + failure);
              if (failure instanceof Error) {
                Runtime.getRuntime().halt(EXIT_AFTER_ERROR);
              }
            })
        .factory();
  }

  @Override
  public long retirementGraceNanos() {
    return GRACE_NANOS;
  }
}
