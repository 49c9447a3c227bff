package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.tck.explore.Steps;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The reading thread of one connection, stopped at each point at which others can come between: the
 * order of {@link ReplyReader} and, at the end, of {@link Lane}.
 */
final class ExploredReceiver {
  private enum Phase {
    IDLE,
    /** Between two calls, before the next entry. */
    OUTSIDE,
    MARKED,
    INSIDE,
    /** Only where it is marked after the entry. */
    UNMARKED,
    /** A call has returned bytes, or the end of the stream. */
    RECEIVED,
    LEFT_AT_END,
    SCRATCH,
    GONE
  }

  private final ExploredDestination world;
  private final ExploredWire wire;
  private final boolean byOrder;
  private final boolean polls;
  private final ReplyHeader header = new ReplyHeader();
  private final List<Part> inFlight = new ArrayList<>();
  private final int[] chunks = new int[2];
  private Phase phase = Phase.IDLE;
  private int left;
  private @Nullable Part part;
  private @Nullable TcpTicket receiving;

  ExploredReceiver(ExploredDestination world, ExploredWire wire, boolean byOrder, boolean polls) {
    this.world = world;
    this.wire = wire;
    this.byOrder = byOrder;
    this.polls = polls;
  }

  void due(Part sent) {
    inFlight.add(sent);
  }

  /** Only where an abandoned id does not stay known. */
  void forget(TcpTicket ticket) {
    inFlight.removeIf(known -> known.ticket() == ticket);
  }

  boolean receives(TcpTicket ticket) {
    return receiving == ticket;
  }

  /** How many chunks were received into a ticket's range. */
  int chunks(int ticket) {
    return chunks[ticket - 1];
  }

  void offer(Steps steps) {
    boolean ready = wire.readable();
    boolean end = !ready && !wire.open();
    switch (phase) {
      case GONE -> {}
      case IDLE -> {
        if (ready) {
          steps.step("the thread reads a header", this::header);
        }
      }
      case OUTSIDE ->
          steps.step(
              "the thread is marked", world.rule("marked_first") ? this::mark : this::skipMark);
      case MARKED -> steps.step("the thread checks the ticket", this::enter);
      case UNMARKED -> steps.step("the thread is marked, late", this::markLate);
      case INSIDE -> {
        if (ready) {
          steps.step("recv returns a chunk", this::received);
        } else if (end) {
          steps.step("recv returns the end", () -> phase = Phase.LEFT_AT_END);
        } else if (polls) {
          steps.step("recv finds nothing", () -> phase = Phase.RECEIVED);
        }
      }
      case RECEIVED -> steps.step("the thread leaves the range", this::leave);
      case LEFT_AT_END -> steps.step("the thread leaves the range, for good", this::leaveAtEnd);
      case SCRATCH -> {
        if (ready) {
          steps.step("recv returns a chunk into scratch", this::discarded);
        }
      }
    }
    if (end && (phase == Phase.IDLE || phase == Phase.SCRATCH)) {
      steps.step("the thread ends, the connection is down", () -> down(FaultCode.PEER_LOST));
    }
  }

  private void header() {
    try {
      wire.decodeInto(header);
    } catch (ProtocolException e) {
      down(e.code());
      return;
    }
    part = find(header.requestId());
    if (part == null || part.bytes() != header.payloadBytes()) {
      down(FaultCode.CORRUPT);
      return;
    }
    left = (int) (part.bytes() / ExploredRequester.CHUNK);
    phase = Phase.OUTSIDE;
  }

  private @Nullable Part find(long id) {
    if (byOrder) {
      return inFlight.isEmpty() || inFlight.get(0).requestId() != id ? null : inFlight.get(0);
    }
    // The newest first, as a map by id would have it.
    return inFlight.reversed().stream()
        .filter(known -> known.requestId() == id)
        .findFirst()
        .orElse(null);
  }

  private Part part() {
    return Objects.requireNonNull(part);
  }

  private void mark() {
    receiving = part().ticket();
    phase = Phase.MARKED;
  }

  private void skipMark() {
    phase = Phase.MARKED;
  }

  private void markLate() {
    receiving = part().ticket();
    phase = Phase.INSIDE;
  }

  private void enter() {
    if (part().ticket().enter()) {
      phase = world.rule("marked_first") ? Phase.INSIDE : Phase.UNMARKED;
      return;
    }
    receiving = null;
    if (world.rule("read_to_end")) {
      phase = Phase.SCRATCH;
    } else {
      ended();
    }
  }

  private void received() {
    int ticket = world.number(part().ticket());
    world.received(ticket, wire.receive().ticket());
    chunks[ticket - 1]++;
    left--;
    phase = Phase.RECEIVED;
  }

  private void leave() {
    part().ticket().leave(TcpTicket::tell);
    receiving = null;
    if (left > 0) {
      phase = Phase.OUTSIDE;
      return;
    }
    Part received = part();
    ended();
    if (world.rule("last_part_first")) {
      received.ticket().completed(received, TcpTicket::tell);
    } else {
      received.ticket().end(Outcome.COMPLETED);
    }
  }

  private void leaveAtEnd() {
    part().ticket().leave(TcpTicket::tell);
    receiving = null;
    down(FaultCode.PEER_LOST);
  }

  private void discarded() {
    var _ = wire.receive();
    left--;
    if (left == 0) {
      ended();
    }
  }

  private void ended() {
    inFlight.remove(part);
    part = null;
    left = 0;
    phase = Phase.IDLE;
  }

  private void down(FaultCode code) {
    List<Part> parts = List.copyOf(inFlight);
    inFlight.clear();
    part = null;
    left = 0;
    phase = Phase.GONE;
    world.down(parts, code);
  }

  List<Object> fingerprint() {
    return List.of(
        phase,
        left,
        part == null ? 0 : world.number(part.ticket()),
        receiving == null ? 0 : world.number(receiving),
        inFlight.stream().map(known -> world.number(known.ticket())).toList(),
        inFlight.indexOf(part),
        byOrder);
  }
}
