package io.orbitkv.stress;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.Side;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Meters;
import io.orbitkv.api.spi.ProviderContext;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** What a Manager would lend to orbitte-tcp: nothing is refused, nothing is counted. */
public record StressContext(ReceiptIssuer receipts) implements ProviderContext {
  /** A context of a new incarnation. */
  public static StressContext create() {
    Set<Evidence> quiesced = Set.of(Evidence.LOCAL_QUIESCED);
    return new StressContext(
        new ReceiptIssuer(
            "orbitte-tcp",
            Epoch.random(),
            Map.of(Side.DESTINATION, quiesced, Side.SOURCE, quiesced)));
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
  public AdmissionBudget budget() {
    return _ -> () -> {};
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
    return Thread.ofPlatform().daemon().name("stress-" + purpose + "-", 1).factory();
  }

  /** Short, so that a timer of an earlier state does not outlive it for long. */
  @Override
  public long retirementGraceNanos() {
    return TimeUnit.MILLISECONDS.toNanos(1);
  }
}
