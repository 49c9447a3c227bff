package io.orbitkv.manager.grant;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.memory.Hold;
import java.util.List;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** One grant at its owner. Its state is written by the {@link GrantAuthority} alone. */
final class Grant {
  private final Epoch requester;
  private final TicketId ticket;
  private final List<Hold> source;
  private final SourceHold hold;
  private final GrantOffer offer;
  private final long bytes;
  private GrantState state = GrantState.ACTIVE;
  private @Nullable Future<?> expiry;

  Grant(Epoch requester, TicketId ticket, List<Hold> source, SourceHold hold, GrantOffer offer) {
    this.requester = requester;
    this.ticket = ticket;
    this.source = List.copyOf(source);
    this.hold = hold;
    this.offer = offer;
    this.bytes = source.stream().mapToLong(pin -> pin.allocation().bytes()).sum();
  }

  GrantId id() {
    return offer.grant();
  }

  /** The Manager epoch of the peer that it was given to. */
  Epoch requester() {
    return requester;
  }

  TicketId ticket() {
    return ticket;
  }

  List<Hold> source() {
    return source;
  }

  SourceHold hold() {
    return hold;
  }

  GrantOffer offer() {
    return offer;
  }

  long bytes() {
    return bytes;
  }

  GrantState state() {
    return state;
  }

  void expiresBy(Future<?> timer) {
    expiry = timer;
  }

  void become(GrantState next) {
    if (!state.canBecome(next)) {
      throw new IllegalStateException(id() + " can not go from " + state + " to " + next);
    }
    state = next;
    if (next == GrantState.RETIRED && expiry != null) {
      expiry.cancel(false);
    }
  }
}
