package io.orbitkv.manager;

import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.spi.AdmissionBudget;
import io.orbitkv.api.spi.Meters;
import io.orbitkv.api.spi.ProviderContext;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this Manager lends to the engine of one provider.
 *
 * @param provider its name, for thread names
 */
record LentContext(
    String provider,
    Map<String, String> options,
    String host,
    ReceiptIssuer receipts,
    AdmissionBudget budget,
    Meters meters,
    long retirementGraceNanos)
    implements ProviderContext {
  private static final Logger LOG = LoggerFactory.getLogger(LentContext.class);
  private static final int EXIT_AFTER_ERROR = 70;

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
              LOG.error("thread {} ended by {}", thread.getName(), failure.toString(), failure);
              if (failure instanceof Error) {
                // Half an engine proves nothing: the process is the unit that must end.
                Runtime.getRuntime().halt(EXIT_AFTER_ERROR);
              }
            })
        .factory();
  }
}
