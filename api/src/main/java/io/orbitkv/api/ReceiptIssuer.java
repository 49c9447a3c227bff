package io.orbitkv.api;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Mints and checks the drain receipts of one opened transport.
 *
 * <p>The Manager owns it: it {@link #open opens} a subject before it hands work to the provider,
 * and {@link #spend spends} the receipt before it unpins memory. The provider {@link #issue issues}
 * in between. A receipt of another issuer, for another subject, of evidence that the provider did
 * not declare for that side, or one that was spent already is refused, and what it spoke for stays
 * held. All methods are thread-safe; none blocks.
 */
public final class ReceiptIssuer {
  private enum Stage {
    OPEN,
    ISSUED
  }

  private static final class Entry {
    private Stage stage = Stage.OPEN;
    private @org.jspecify.annotations.Nullable DrainReceipt receipt;
  }

  private final String provider;
  private final Epoch epoch;
  private final Map<Side, Set<Evidence>> declared;
  private final Map<ReceiptSubject, Entry> entries = new HashMap<>();

  /**
   * An issuer for one transport incarnation.
   *
   * @param provider the provider's name, for messages
   * @param epoch the transport epoch that every receipt of this issuer is bound to
   * @param declared the evidence that the provider declared, per side
   */
  public ReceiptIssuer(String provider, Epoch epoch, Map<Side, Set<Evidence>> declared) {
    this.provider = provider;
    this.epoch = epoch;
    this.declared =
        Map.of(
            Side.DESTINATION, copy(declared.get(Side.DESTINATION)),
            Side.SOURCE, copy(declared.get(Side.SOURCE)));
  }

  private static Set<Evidence> copy(@org.jspecify.annotations.Nullable Set<Evidence> evidence) {
    Set<Evidence> all = EnumSet.of(Evidence.NEVER_SUBMITTED);
    if (evidence != null) {
      all.addAll(evidence);
    }
    return Set.copyOf(all);
  }

  /** The transport epoch that the receipts of this issuer are bound to. */
  public Epoch epoch() {
    return epoch;
  }

  /**
   * Makes a subject known: from now on exactly one receipt can be issued for it. Called by the
   * Manager before it hands the work to the provider.
   *
   * @throws TransportException {@link FaultCode#IN_USE} if the subject is open already; {@link
   *     FaultCode#STALE_EPOCH} if it is a grant of another transport epoch
   */
  public void open(ReceiptSubject subject) {
    if (subject instanceof GrantId grant && !grant.epoch().equals(epoch)) {
      throw new TransportException(
          FaultCode.STALE_EPOCH, subject + " does not belong to transport epoch " + epoch);
    }
    synchronized (entries) {
      if (entries.putIfAbsent(subject, new Entry()) != null) {
        throw new TransportException(FaultCode.IN_USE, subject + " is open already");
      }
    }
  }

  /**
   * Mints the one receipt of a subject. Called by the provider, at the moment at which the evidence
   * holds.
   *
   * @throws TransportException {@link FaultCode#NOT_FOUND} if the subject is not open (never
   *     opened, or spent), {@link FaultCode#INVALID} if its receipt was issued before, {@link
   *     FaultCode#UNSUPPORTED} if the provider did not declare this evidence for that side
   */
  public DrainReceipt issue(ReceiptSubject subject, Evidence evidence) {
    if (!declared.getOrDefault(subject.side(), Set.of()).contains(evidence)) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          provider + " did not declare " + evidence + " as evidence for " + subject.side());
    }
    synchronized (entries) {
      Entry entry = entries.get(subject);
      if (entry == null) {
        throw new TransportException(FaultCode.NOT_FOUND, subject + " is not open for a receipt");
      }
      if (entry.stage != Stage.OPEN) {
        throw new TransportException(
            FaultCode.INVALID, "the receipt of " + subject + " was issued before");
      }
      DrainReceipt receipt = new DrainReceipt(subject, evidence, System.nanoTime());
      entry.stage = Stage.ISSUED;
      entry.receipt = receipt;
      return receipt;
    }
  }

  /**
   * Spends a receipt: afterwards the subject is closed and its memory may be unpinned. Called by
   * the Manager.
   *
   * @param receipt the receipt in hand
   * @param subject the ticket or grant whose memory is to be unpinned
   * @throws TransportException {@link FaultCode#QUARANTINED} if the receipt is not the one that
   *     this issuer minted for this subject, or was spent before; nothing changes then
   */
  public void spend(DrainReceipt receipt, ReceiptSubject subject) {
    synchronized (entries) {
      Entry entry = entries.get(subject);
      if (entry == null || entry.receipt != receipt) {
        throw new TransportException(
            FaultCode.QUARANTINED,
            receipt + " from " + provider + " does not prove that " + subject + " is drained");
      }
      entries.remove(subject);
    }
  }

  /**
   * Closes a subject that was opened and then not handed to the provider at all. Called by the
   * Manager, when the submitting call threw.
   *
   * @return the receipt, {@link Evidence#NEVER_SUBMITTED}, to be spent like any other
   * @throws TransportException as {@link #issue}
   */
  public DrainReceipt neverSubmitted(ReceiptSubject subject) {
    return issue(subject, Evidence.NEVER_SUBMITTED);
  }

  /** How many subjects are open or issued and not yet spent. */
  public int openSubjects() {
    synchronized (entries) {
      return entries.size();
    }
  }
}
