package io.orbitkv.tck;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Meters;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.ProviderContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** What a Manager would lend to one engine, and what the engine does with it. Thread-safe. */
public final class KitContext implements ProviderContext {
  /** Short, so that work that is stuck ends within a test. */
  private static final long GRACE_NANOS = 200_000_000;

  private final String provider;
  private final Map<String, String> options = new HashMap<>();
  private final String host;
  private final ReceiptIssuer receipts;
  private final int limit;
  private final AtomicInteger places = new AtomicInteger();
  private final Map<String, LongAdder> meters = new ConcurrentHashMap<>();
  private final List<Thread> started = new CopyOnWriteArrayList<>();
  private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
  private final AtomicInteger threads = new AtomicInteger();

  /**
   * A context of a new incarnation.
   *
   * @param limit batches that are live or retained at once at most
   */
  KitContext(ProviderFixture fixture, int limit) {
    provider = fixture.provider().name();
    host = fixture.host();
    this.limit = limit;
    for (OptionSpec option : fixture.provider().options()) {
      options.put(option.name(), option.defaultValue());
    }
    options.putAll(fixture.options());
    receipts =
        new ReceiptIssuer(
            provider, Epoch.random(), fixture.provider().capabilities(options).evidence());
  }

  /** How many places in the admission budget are taken. */
  public int places() {
    return places.get();
  }

  /** Threads that the engine started and that have not ended. */
  public List<Thread> liveThreads() {
    return started.stream().filter(Thread::isAlive).toList();
  }

  /** What ended a thread of the engine. */
  public List<Throwable> uncaught() {
    return List.copyOf(uncaught);
  }

  @Override
  public Map<String, String> options() {
    return Map.copyOf(options);
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
      if (places.incrementAndGet() > limit) {
        places.decrementAndGet();
        throw new TransportException(
            FaultCode.EXHAUSTED, limit + " batches are live or retained, the limit; retry later");
      }
      AtomicBoolean given = new AtomicBoolean();
      return () -> {
        if (!given.compareAndSet(false, true)) {
          throw new IllegalStateException("a place in the budget was given back twice");
        }
        places.decrementAndGet();
      };
    };
  }

  @Override
  public Meters meters() {
    return new Meters() {
      @Override
      public Counter counter(String name, String help) {
        return meters.computeIfAbsent(name, _ -> new LongAdder())::add;
      }

      @Override
      public Gauge gauge(String name, String help) {
        return meters.computeIfAbsent(name, _ -> new LongAdder())::add;
      }
    };
  }

  @Override
  public LongSupplier clock() {
    return System::nanoTime;
  }

  @Override
  public ThreadFactory threads(String purpose) {
    return work -> {
      Thread thread =
          Thread.ofPlatform()
              .daemon()
              .name(provider + "-" + purpose + "-" + threads.incrementAndGet())
              .uncaughtExceptionHandler((_, failure) -> uncaught.add(failure))
              .unstarted(work);
      started.add(thread);
      return thread;
    };
  }

  @Override
  public long retirementGraceNanos() {
    return GRACE_NANOS;
  }
}
