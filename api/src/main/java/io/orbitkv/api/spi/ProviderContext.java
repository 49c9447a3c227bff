package io.orbitkv.api.spi;

import io.orbitkv.api.ReceiptIssuer;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;

/** What the Manager lends to an engine, from {@code open} to its {@code close}. */
public interface ProviderContext {
  /** The provider's options by full name, every one present, defaults filled in. */
  Map<String, String> options();

  /**
   * The IP address, literal, at which this host's Managers are reached; where the engine listens
   * unless its own options say otherwise.
   */
  String host();

  /** Mints the receipts of this engine; its epoch is the engine's epoch. */
  ReceiptIssuer receipts();

  /** The admission budget that every submission passes. */
  AdmissionBudget budget();

  /** Where the engine counts. */
  Meters meters();

  /** The clock to measure with, in ns, monotonic; tests lend their own. */
  LongSupplier clock();

  /**
   * Makes platform threads, named {@code provider-purpose-N}, that end the process on an uncaught
   * {@link Error}. The engine joins them in {@code close}.
   *
   * @param purpose what they do, as in {@code read}
   */
  ThreadFactory threads(String purpose);

  /** From the retirement of a right to the forced end of a connection that still serves it, ns. */
  long retirementGraceNanos();
}
