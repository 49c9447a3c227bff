package io.orbitkv.tck.template;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport.Admission;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The owner's side of one grant: the gate that a read passes before it touches the source. */
final class TemplateHold implements SourceHold {
  private final TemplateTransport transport;
  private final TemplateGrant wire;
  private final List<MemorySegment> ranges;
  private final List<TemplateRegistration> used;
  private int inside;
  private boolean retired;
  private boolean proven;

  TemplateHold(
      TemplateTransport transport,
      Admission admission,
      List<MemorySegment> ranges,
      List<TemplateRegistration> used) {
    this.transport = transport;
    this.ranges = ranges;
    this.used = used;
    this.wire =
        new TemplateGrant(
            admission.grant(),
            admission.requester(),
            Epoch.random(),
            ranges.stream().map(MemorySegment::byteSize).toList());
  }

  @Override
  public GrantId grant() {
    return wire.grant();
  }

  @Override
  public byte[] wireForm() {
    return wire.write();
  }

  /** The check and the entry are one step; who got null leaves once. */
  synchronized @Nullable FaultCode enter(TemplateGrant shown, Epoch requester) {
    if (!shown.secret().equals(wire.secret()) || !requester.equals(wire.requester())) {
      return FaultCode.DENIED;
    }
    if (retired) {
      return FaultCode.GRANT_ENDED;
    }
    inside++;
    return null;
  }

  synchronized void leave() {
    inside--;
    notifyAll();
  }

  MemorySegment range(int index) {
    return ranges.get(index);
  }

  @Override
  public synchronized void revoke() {
    retired = true;
  }

  @Override
  public synchronized Optional<DrainReceipt> drain() {
    if (!retired || inside > 0 || proven) {
      return Optional.empty();
    }
    proven = true;
    used.forEach(TemplateRegistration::release);
    transport.holds.remove(grant());
    return Optional.of(transport.context.receipts().issue(grant(), Evidence.LOCAL_QUIESCED));
  }

  synchronized void awaitLeft(long deadlineNanos) {
    try {
      while (inside > 0 && deadlineNanos - System.nanoTime() > 0) {
        wait(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
