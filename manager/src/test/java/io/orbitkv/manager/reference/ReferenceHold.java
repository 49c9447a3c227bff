package io.orbitkv.manager.reference;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

final class ReferenceHold implements SourceHold {
  private final ReceiptIssuer issuer;
  private final Transport.Admission admission;
  private boolean retired;
  private boolean proven;
  private int inside;

  ReferenceHold(ReceiptIssuer issuer, Transport.Admission admission) {
    this.issuer = issuer;
    this.admission = admission;
  }

  List<Descriptor> ranges() {
    return admission.ranges();
  }

  @Override
  public GrantId grant() {
    return admission.grant();
  }

  @Override
  public byte[] wireForm() {
    return String.valueOf(admission.grant()).getBytes(StandardCharsets.US_ASCII);
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
    return Optional.of(issuer.issue(admission.grant(), Evidence.LOCAL_QUIESCED));
  }

  synchronized boolean drained() {
    return proven;
  }

  synchronized boolean enter(Epoch requester) {
    if (retired || !requester.equals(admission.requester())) {
      return false;
    }
    inside++;
    return true;
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
