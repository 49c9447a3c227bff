package io.orbitkv.tck.reference;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The owner's side of one grant; the copy's entry and the check of the grant are one step. */
final class ReferenceHold implements SourceHold {
  private final ReferenceTransport transport;
  private final ReferenceForm form;
  private final List<MemorySegment> ranges;
  private final List<ReferenceRegistration> used;
  private boolean retired;
  private boolean proven;
  private int inside;

  ReferenceHold(
      ReferenceTransport transport,
      Transport.Admission admission,
      List<MemorySegment> ranges,
      List<ReferenceRegistration> used) {
    this.transport = transport;
    this.ranges = List.copyOf(ranges);
    this.used = List.copyOf(used);
    this.form =
        new ReferenceForm(
            admission.grant(),
            admission.requester(),
            Epoch.random(),
            admission.ranges().stream().map(Descriptor::length).toList());
  }

  @Override
  public GrantId grant() {
    return form.grant();
  }

  @Override
  public byte[] wireForm() {
    return form.write();
  }

  @Override
  public synchronized void revoke() {
    retired = true;
  }

  @Override
  public synchronized Optional<DrainReceipt> drain() {
    boolean left = inside == 0 || transport.has(Defect.SOURCE_RECEIPT_WHILE_INSIDE);
    if (!retired || !left || proven) {
      return Optional.empty();
    }
    DrainReceipt receipt = transport.receipts().issue(grant(), Evidence.LOCAL_QUIESCED);
    proven = true;
    used.forEach(ReferenceRegistration::release);
    transport.forget(this);
    return Optional.of(receipt);
  }

  /** Enters on behalf of one read; null if it did, and then {@link #leave()} is due, else why. */
  synchronized @Nullable FaultCode enter(ReferenceForm shown, Epoch requester) {
    boolean anybody = transport.has(Defect.GRANT_OF_ANY_REQUESTER);
    boolean blind = transport.has(Defect.EPOCH_IGNORED);
    if (!(blind || shown.secret().equals(form.secret()))
        || !(anybody || requester.equals(form.requester()))) {
      return FaultCode.DENIED;
    }
    if (retired && !transport.has(Defect.REVOKE_STILL_ADMITS)) {
      return FaultCode.GRANT_ENDED;
    }
    inside++;
    return null;
  }

  /** The bytes of one range; only between entry and leaving. */
  MemorySegment range(int index) {
    return ranges.get(index);
  }

  synchronized void leave() {
    inside--;
    notifyAll();
  }

  synchronized void awaitLeft(long deadlineNanos) {
    try {
      long left = deadlineNanos - System.nanoTime();
      while (inside > 0 && left > 0) {
        wait(1 + left / 1_000_000);
        left = deadlineNanos - System.nanoTime();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
