package io.orbitkv.provider.tcp;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.spi.SourceHold;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The owner's side of one grant. A handler is inside its gate from the check of the token until the
 * last byte of the reply was handed to the kernel, or its connection failed. What went by reference
 * outlives that, until the requester's word.
 */
final class TcpSourceHold implements SourceHold {
  private final GrantTable table;
  private final GrantForm form;
  private final List<SourceRange> ranges;
  private final List<TcpRegistration> registrations;
  private final SourceReferences references;
  private final Gate gate = new Gate();
  private boolean receiptIssued;

  /** The registrations are used once each, on behalf of this hold. */
  TcpSourceHold(
      GrantTable table,
      GrantForm form,
      List<SourceRange> ranges,
      List<TcpRegistration> registrations,
      SourceReferences references) {
    this.table = table;
    this.form = form;
    this.ranges = List.copyOf(ranges);
    this.registrations = List.copyOf(registrations);
    this.references = references;
  }

  @Override
  public GrantId grant() {
    return form.grant();
  }

  @Override
  public byte[] wireForm() {
    return form.write();
  }

  /**
   * Enters on behalf of one READ; a handler that got null calls {@link #leave()} once. The check
   * and the entry are one step with respect to {@link #revoke()}, and come before any range is
   * resolved.
   *
   * @return null if it entered, else why not
   */
  @Nullable FaultCode enter(long tokenHigh, long tokenLow, Epoch requester) {
    if (!belongsTo(tokenHigh, tokenLow, requester)) {
      return FaultCode.DENIED;
    }
    return gate.enter() ? null : FaultCode.GRANT_ENDED;
  }

  /** Whether this is the grant's token, and its requester. */
  boolean belongsTo(long tokenHigh, long tokenLow, Epoch requester) {
    boolean tokenMatches = form.token().matches(tokenHigh, tokenLow);
    return tokenMatches && form.requester().equals(requester);
  }

  void leave() {
    if (gate.leave()) {
      table.drained();
    }
  }

  /** As {@link SourceReferences#add}; only between {@link #enter} and {@link #leave}. */
  boolean refer(long requestId, ReplyConnection connection) {
    return references.add(requestId, connection);
  }

  /** As {@link SourceReferences#said}. */
  void said(long requestId, ReplyConnection connection) {
    references.said(requestId, connection);
    tellIfDrained();
  }

  /** As {@link SourceReferences#reset}. */
  void reset(ReplyConnection connection) {
    references.reset(connection);
    tellIfDrained();
  }

  private void tellIfDrained() {
    if (drained()) {
      table.drained();
    }
  }

  /** As {@link SourceReferences#refersTo}. */
  boolean refersTo(ReplyConnection connection) {
    return references.refersTo(connection);
  }

  int ranges() {
    return ranges.size();
  }

  /** The bytes of one range; only between {@link #enter} and {@link #leave}. */
  SourceRange range(int index) {
    return ranges.get(index);
  }

  /** Whether a handler may still be inside, or come to be. */
  boolean entered() {
    return !gate.drained();
  }

  /** The gate first: once it is drained no reference is added. */
  boolean drained() {
    return gate.drained() && references.ended();
  }

  @Override
  public void revoke() {
    revoke(Long.MAX_VALUE);
  }

  /** Retires the token; a reply that is stuck is ended after the grace, or sooner, in ns. */
  void revoke(long atMostNanos) {
    if (gate.retire()) {
      table.drained();
    } else if (!gate.drained()) {
      table.endStuckReplies(this, atMostNanos);
    }
  }

  @Override
  public synchronized Optional<DrainReceipt> drain() {
    if (receiptIssued || !drained()) {
      return Optional.empty();
    }
    Evidence evidence = references.any() ? Evidence.PEER_RECEIPT : Evidence.LOCAL_QUIESCED;
    DrainReceipt receipt = table.issue(grant(), evidence);
    receiptIssued = true;
    registrations.forEach(TcpRegistration::release);
    table.remove(this);
    return Optional.of(receipt);
  }

  @Override
  public String toString() {
    return "source hold of " + grant();
  }
}
