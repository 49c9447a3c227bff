package io.orbitkv.provider.tcp;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.spi.SourceHold;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The owner's side of one grant. A handler is inside its gate from the check of the token until the
 * last byte of the reply was handed to the kernel, or its connection failed.
 */
final class TcpSourceHold implements SourceHold {
  private final GrantTable table;
  private final GrantForm form;
  private final List<MemorySegment> ranges;
  private final List<TcpRegistration> registrations;
  private final Gate gate = new Gate();
  private boolean receiptIssued;

  /** The registrations are used once each, on behalf of this hold. */
  TcpSourceHold(
      GrantTable table,
      GrantForm form,
      List<MemorySegment> ranges,
      List<TcpRegistration> registrations) {
    this.table = table;
    this.form = form;
    this.ranges = List.copyOf(ranges);
    this.registrations = List.copyOf(registrations);
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
    boolean tokenMatches = form.token().matches(tokenHigh, tokenLow);
    if (!tokenMatches || !form.requester().equals(requester)) {
      return FaultCode.DENIED;
    }
    return gate.enter() ? null : FaultCode.GRANT_ENDED;
  }

  void leave() {
    if (gate.leave()) {
      table.drained();
    }
  }

  int ranges() {
    return ranges.size();
  }

  /** The bytes of one range; only between {@link #enter} and {@link #leave}. */
  MemorySegment range(int index) {
    return ranges.get(index);
  }

  boolean drained() {
    return gate.drained();
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
    if (receiptIssued || !gate.drained()) {
      return Optional.empty();
    }
    DrainReceipt receipt = table.issue(grant(), Evidence.LOCAL_QUIESCED);
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
