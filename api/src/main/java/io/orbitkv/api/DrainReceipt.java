package io.orbitkv.api;

/**
 * Proof, with its evidence, that one ticket or one source can touch memory no more.
 *
 * <p>Minted once, by the {@link ReceiptIssuer} that the Manager lent to the provider, and spent
 * once, by the Manager, at that same issuer. It has no public constructor. It speaks for one {@link
 * Side} only.
 */
public final class DrainReceipt {
  private final ReceiptSubject subject;
  private final Evidence evidence;
  private final long issuedAtNanos;

  DrainReceipt(ReceiptSubject subject, Evidence evidence, long issuedAtNanos) {
    this.subject = subject;
    this.evidence = evidence;
    this.issuedAtNanos = issuedAtNanos;
  }

  /** The ticket or the grant that can touch memory no more. */
  public ReceiptSubject subject() {
    return subject;
  }

  /** Why that is known. */
  public Evidence evidence() {
    return evidence;
  }

  /** When it was minted, in ns of {@link System#nanoTime()}; for latency figures only. */
  public long issuedAtNanos() {
    return issuedAtNanos;
  }

  @Override
  public String toString() {
    return "receipt for " + subject + " by " + evidence;
  }
}
