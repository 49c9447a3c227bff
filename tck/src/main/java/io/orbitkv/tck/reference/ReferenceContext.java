package io.orbitkv.tck.reference;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Meters;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.Transport;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;

/** Lends what the reference transport needs, without limits. */
public record ReferenceContext(ReceiptIssuer receipts) implements ProviderContext {
  /** A context of a new incarnation. */
  public static ReferenceContext create() {
    return new ReferenceContext(
        new ReceiptIssuer(
            "reference", Epoch.random(), ReferenceProvider.DEFAULT_CAPABILITIES.evidence()));
  }

  /** Opens a transport with this context. */
  public Transport open(Lever lever) {
    return new ReferenceProvider(lever).open(this);
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
    return Thread.ofPlatform().daemon().name("reference-" + purpose + "-", 1).factory();
  }

  @Override
  public long retirementGraceNanos() {
    return 0;
  }
}
