package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Meters;
import io.orbitkv.api.spi.ProviderContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** What a Manager would lend: a bounded budget, meters that can be read, the real clock. */
final class TestContext implements ProviderContext {
  static final long GRACE_NANOS = 60_000_000_000L;

  final Map<String, AtomicLong> meters = new ConcurrentHashMap<>();
  final AtomicInteger places = new AtomicInteger();

  /** Of one ticket so far, as it was charged. */
  final AtomicLong mostBytes = new AtomicLong();

  final int limit;

  private final Map<String, String> options = new HashMap<>();
  private final String host;
  private final long graceNanos;
  private final ReceiptIssuer receipts;
  private final List<Thread> started = new CopyOnWriteArrayList<>();
  private final AtomicInteger threads = new AtomicInteger();

  /** Threads still to be refused, by their purpose. */
  final Map<String, AtomicInteger> refused = new ConcurrentHashMap<>();

  TestContext(String host, long graceNanos, int limit, Map<String, String> options) {
    this.host = host;
    this.graceNanos = graceNanos;
    this.limit = limit;
    this.options.putAll(options);
    receipts =
        new ReceiptIssuer(
            "orbitte-tcp",
            Epoch.random(),
            new OrbitteTcpProvider().capabilities(options).evidence());
  }

  long meter(String name) {
    AtomicLong value = meters.get(name);
    return value == null ? 0 : value.get();
  }

  boolean threadsEnded() {
    return started.stream().noneMatch(Thread::isAlive);
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
    return bytes -> {
      mostBytes.accumulateAndGet(bytes, Math::max);
      if (places.incrementAndGet() > limit) {
        places.decrementAndGet();
        throw new TransportException(FaultCode.EXHAUSTED, "more than " + limit + " batches");
      }
      AtomicInteger open = new AtomicInteger(1);
      return () -> {
        if (open.getAndSet(0) == 0) {
          throw new IllegalStateException("a place was given back twice");
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
        return meters.computeIfAbsent(name, n -> new AtomicLong())::addAndGet;
      }

      @Override
      public Gauge gauge(String name, String help) {
        return meters.computeIfAbsent(name, n -> new AtomicLong())::addAndGet;
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
      AtomicInteger left = refused.get(purpose);
      if (left != null && left.getAndDecrement() > 0) {
        throw new OutOfMemoryError("the test refuses a thread to " + purpose);
      }
      Thread thread = new Thread(work, "tcp-" + purpose + "-" + threads.incrementAndGet());
      thread.setDaemon(true);
      started.add(thread);
      return thread;
    };
  }

  @Override
  public long retirementGraceNanos() {
    return graceNanos;
  }
}
