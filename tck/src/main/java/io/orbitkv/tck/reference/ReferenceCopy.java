package io.orbitkv.tck.reference;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.spi.Peer.TicketOptions;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Moves the bytes of one batch, a chunk at a time; used by one thread. */
final class ReferenceCopy {
  private static final long CHUNK = 64 << 10;
  private static final long LATE_NANOS = 20_000_000;

  private final ReferencePeer peer;
  private final ReferenceTransport transport;
  private final ReferenceForm form;
  private final Batch batch;
  private final Map<RegionId, Region> regions;
  private final ReferenceTicket ticket;
  private final TicketOptions options;
  private final long cuts;
  private boolean told;

  ReferenceCopy(
      ReferencePeer peer,
      ReferenceForm form,
      Batch batch,
      Map<RegionId, Region> regions,
      ReferenceTicket ticket,
      TicketOptions options) {
    this.peer = peer;
    this.transport = peer.transport();
    this.form = form;
    this.batch = batch;
    this.regions = regions;
    this.ticket = ticket;
    this.options = options;
    this.cuts = transport.lever().cuts();
  }

  /** Returns when nothing of it is inside source or destination. */
  Outcome run() {
    ReferenceTransport remote = transport.reach(peer.endpoint());
    if (remote == null) {
      return failed(FaultCode.PEER_LOST, "nobody is at " + peer.endpoint());
    }
    boolean stale = !remote.epoch().equals(peer.epoch());
    if (stale && !transport.has(Defect.EPOCH_IGNORED)) {
      return failed(FaultCode.STALE_EPOCH, peer.endpoint() + " is another incarnation");
    }
    ReferenceHold hold = remote.hold(form.grant());
    if (hold == null && transport.has(Defect.EPOCH_IGNORED)) {
      hold = remote.anyHold();
    }
    if (hold == null) {
      return failed(FaultCode.GRANT_ENDED, form.grant() + " has ended; ask for a new grant");
    }
    FaultCode refusal = hold.enter(form, transport.epoch());
    if (refusal != null) {
      return failed(refusal, form.grant() + " lets nobody in; ask for a new grant");
    }
    try {
      return move(hold);
    } finally {
      hold.leave();
    }
  }

  private Outcome move(ReferenceHold hold) {
    for (int i = 0; i < batch.size(); i++) {
      MemorySegment from = hold.range(batch.remote(i).range());
      if (batch.remote(i).end() > from.byteSize()) {
        return failed(
            FaultCode.DENIED, batch.remote(i) + " leaves what " + form.grant() + " names");
      }
    }
    for (int i = 0; i < batch.size(); i++) {
      Outcome stopped = moveEntry(batch.local(i), batch.remote(i), hold, i == batch.size() - 1);
      if (stopped != null) {
        return stopped;
      }
      if (transport.has(Defect.OUTCOME_BEFORE_LAST_PART)) {
        ticket.leave(Outcome.COMPLETED);
      }
    }
    return Outcome.COMPLETED;
  }

  private @Nullable Outcome moveEntry(
      Descriptor local, RemoteDescriptor remote, ReferenceHold hold, boolean last) {
    MemorySegment from = hold.range(remote.range());
    Region region = regions.get(local.region());
    if (region == null) {
      throw new IllegalStateException(local.region() + " is not among the regions of the batch");
    }
    long moved = 0;
    while (moved < local.bytes()) {
      long fromPiece = moved % remote.length();
      long toPiece = moved % local.length();
      long step = Math.min(CHUNK, Math.min(remote.length() - fromPiece, local.length() - toPiece));
      Outcome stopped = pass(step, local);
      if (stopped != null) {
        return stopped;
      }
      long stride = transport.has(Defect.STRIDE_IGNORED) ? remote.length() : remote.stride();
      long at = remote.offset() + moved / remote.length() * stride + fromPiece;
      long to = local.offset() + moved / local.length() * local.stride() + toPiece;
      if (to + step > region.length()) {
        return null;
      }
      boolean lastStep = last && moved + step == local.bytes();
      if (lastStep && transport.has(Defect.COMPLETION_BEFORE_VISIBILITY)) {
        ticket.leave(Outcome.COMPLETED);
        LockSupport.parkNanos(LATE_NANOS);
      }
      MemorySegment.copy(from, at, region.memory(), to, step);
      moved += step;
    }
    return null;
  }

  /** Waits for the link; what ended the wait if it was not a byte. */
  private @Nullable Outcome pass(long step, Descriptor local) {
    // A thread that was declared out of the memory and is not: nothing stops it.
    boolean deaf = told || transport.has(Defect.RECEIPT_BEFORE_THREAD_LEFT);
    long timeout = told ? 0 : options.progressTimeoutNanos();
    Lever.Pass pass = transport.lever().pass(step, cuts, () -> !deaf && ticket.ending(), timeout);
    Outcome stopped =
        switch (pass) {
          case GO -> null;
          case ENDED -> Outcome.CANCELLED;
          case CUT ->
              transport.has(Defect.CUT_IS_COMPLETED)
                  ? Outcome.COMPLETED
                  : failed(FaultCode.PEER_LOST, peer.endpoint() + " was cut off");
          case TIMEOUT ->
              failed(
                  FaultCode.PEER_LOST,
                  "no byte of " + peer.endpoint() + " in " + timeout + " ns; try again");
        };
    if (pass == Lever.Pass.TIMEOUT && stopped != null && transport.has(Defect.RECEIPT_ON_TIMEOUT)) {
      told = true;
      ticket.leave(stopped);
      return pass(step, local);
    }
    if (stopped != null && transport.has(Defect.LATE_WRITE_AFTER_FAILED)) {
      writeLate(local);
    }
    return stopped;
  }

  private void writeLate(Descriptor local) {
    Region region = regions.get(local.region());
    if (region == null || local.length() == 0) {
      return;
    }
    MemorySegment target = region.memory().asSlice(local.offset(), local.length());
    transport
        .copies()
        .execute(
            () -> {
              LockSupport.parkNanos(LATE_NANOS);
              target.fill((byte) 0x5a);
            });
  }

  private static Outcome failed(FaultCode code, String message) {
    return new Outcome.Failed(code, message);
  }
}
