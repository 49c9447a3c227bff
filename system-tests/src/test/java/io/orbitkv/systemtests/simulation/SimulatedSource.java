package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.manager.memory.Allocation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The owner's side of one grant. The check of a READ's token and the entry of its handler are one
 * step; a handler is inside until the last byte of its reply, or its connection's close. The
 * receipt is issued when the token is retired and nobody is inside.
 */
final class SimulatedSource implements SourceHold, Movement {
  private static final int NOT_YET_ODDS = 5;

  private final SimulatedTransport transport;
  private final World world;
  private final Transport.Admission admission;
  private final List<Allocation> source;
  private final Epoch token;
  private final List<Handler> inside = new ArrayList<>();
  private boolean retired;
  private boolean issued;

  SimulatedSource(
      SimulatedTransport transport,
      World world,
      Transport.Admission admission,
      List<Allocation> source) {
    this.transport = transport;
    this.world = world;
    this.admission = admission;
    this.source = source;
    this.token = world.chance().epoch();
  }

  Epoch token() {
    return token;
  }

  Transport.Admission admission() {
    return admission;
  }

  /** Lets a READ in, or says why not. */
  @Nullable FaultCode enter(ReadFrame frame, Handler handler) {
    if (!world.is(Mutant.OWNER_IGNORES_EPOCHS)
        && !frame.requester().equals(admission.requester())) {
      return FaultCode.DENIED;
    }
    if (retired && !world.is(Mutant.REVOKED_TOKEN_STILL_ENTERS)) {
      return FaultCode.GRANT_ENDED;
    }
    if (frame.range() >= admission.ranges().size()
        || frame.offset() + frame.length() > admission.ranges().get(frame.range()).length()) {
      return FaultCode.INVALID;
    }
    inside.add(handler);
    return null;
  }

  void leave(Handler handler) {
    inside.remove(handler);
  }

  @Override
  public GrantId grant() {
    return admission.grant();
  }

  @Override
  public byte[] wireForm() {
    return WireForm.write(this);
  }

  @Override
  public void revoke() {
    if (retired) {
      return;
    }
    transport.manager().checkReasonToRetire(grant());
    retired = true;
    if (!inside.isEmpty()) {
      world.after(
          Limits.RETIREMENT_GRACE,
          Pending.at(transport.manager(), "stuck handlers are shut down", this::shutDown));
    }
  }

  private void shutDown() {
    List.copyOf(inside).forEach(Handler::shutDown);
  }

  @Override
  public Optional<DrainReceipt> drain() {
    return world.chance().oneIn(NOT_YET_ODDS) ? Optional.empty() : receipt();
  }

  Optional<DrainReceipt> receipt() {
    boolean left = inside.isEmpty() || world.is(Mutant.SOURCE_RECEIPT_WHILE_HANDLER_INSIDE);
    if (!retired || !left || issued) {
      return Optional.empty();
    }
    issued = true;
    transport.forget(this);
    return Optional.of(transport.issue(grant(), Evidence.LOCAL_QUIESCED));
  }

  @Override
  public SimulatedManager owner() {
    return transport.manager();
  }

  @Override
  public List<Allocation> touched() {
    return source;
  }

  @Override
  public boolean live() {
    boolean opens = !retired || world.is(Mutant.REVOKED_TOKEN_STILL_ENTERS);
    return opens || !inside.isEmpty();
  }

  @Override
  public String toString() {
    return "grant "
        + grant().id()
        + " of "
        + transport.manager()
        + " ("
        + inside.size()
        + " inside)";
  }
}
