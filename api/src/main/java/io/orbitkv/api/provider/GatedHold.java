package io.orbitkv.api.provider;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport.Admission;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The owner's side of one grant, behind a {@link Gate}. Made by {@link OpenWork#admit}, entered by
 * {@link OpenWork#enter}. Whoever reads the source on the peer's behalf is inside from the check of
 * the secret until its last byte has left the memory, or its connection is closed. Thread-safe.
 */
public final class GatedHold implements SourceHold {
  private final OpenWork work;
  private final Admission admission;
  private final Evidence evidence;
  private final RegionUse sources;
  private final Runnable stuck;
  private final Secret secret = Secret.random();
  private final Gate gate = new Gate();
  private boolean revoked;
  private boolean receiptIssued;

  GatedHold(
      OpenWork work, Admission admission, Evidence evidence, RegionUse sources, Runnable stuck) {
    this.work = work;
    this.admission = admission;
    this.evidence = evidence;
    this.sources = sources;
    this.stuck = stuck;
  }

  @Override
  public GrantId grant() {
    return admission.grant();
  }

  @Override
  public byte[] wireForm() {
    List<Long> lengths = admission.ranges().stream().map(Descriptor::length).toList();
    return ImportedGrant.write(grant(), secret, lengths);
  }

  /** As {@link OpenWork#enter}: the check of the right and the entry are one step. */
  void enter(byte[] shown, Epoch requester) {
    if (!secret.matches(shown) || !admission.requester().equals(requester)) {
      throw new TransportException(
          FaultCode.DENIED, grant() + " was not given to " + requester + " with this secret");
    }
    if (!gate.enter()) {
      throw new TransportException(
          FaultCode.GRANT_ENDED, grant() + " was retired; ask for a new grant");
    }
  }

  /**
   * Leaves.
   *
   * @throws IllegalStateException if nobody is inside
   */
  public void leave() {
    if (gate.leave()) {
      work.holdLeft();
    }
  }

  /**
   * The granted range of which a descriptor names bytes, checked; the descriptor's offsets count
   * from its start. Only between entry and {@link #leave()}.
   *
   * @throws TransportException DENIED if the descriptor names bytes that were not granted
   */
  public MemorySegment source(RemoteDescriptor descriptor) {
    List<Descriptor> ranges = admission.ranges();
    int index = descriptor.range();
    if (index >= ranges.size() || descriptor.end() > ranges.get(index).length()) {
      throw new TransportException(
          FaultCode.DENIED, descriptor + " leaves what was granted under " + grant());
    }
    Descriptor range = ranges.get(index);
    return sources.region(index).memory().asSlice(range.offset(), range.length());
  }

  /** Whether it is revoked and nobody is inside. */
  boolean left() {
    return gate.drained();
  }

  @Override
  public void revoke() {
    synchronized (this) {
      if (revoked) {
        return;
      }
      revoked = true;
      // Under the lock: from the return of a second call on, nothing enters either.
      if (gate.retire()) {
        return;
      }
    }
    if (!gate.drained()) {
      stuck.run();
    }
  }

  @Override
  public synchronized Optional<DrainReceipt> drain() {
    if (!gate.drained() || receiptIssued) {
      return Optional.empty();
    }
    DrainReceipt receipt = work.mint(grant(), evidence);
    receiptIssued = true;
    sources.close();
    work.holdEnded(this);
    return Optional.of(receipt);
  }

  @Override
  public String toString() {
    return "source hold of " + grant();
  }
}
