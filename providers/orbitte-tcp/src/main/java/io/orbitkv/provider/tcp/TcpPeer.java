package io.orbitkv.provider.tcp;

import io.orbitkv.api.Batch;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One peer at the requester: its lanes, and the queue of tickets that still have parts to send.
 * Tickets take turns, a part at a time, so that a small one does not wait for a large one. Locks
 * are taken in the order lane, then peer. Thread-safe.
 */
final class TcpPeer implements Peer {
  private static final long RETRY_NANOS = 1_000_000_000;

  private enum State {
    DOWN,
    CONNECTING,
    UP
  }

  private final TcpTransport transport;
  private final Engine engine;
  private final InetSocketAddress address;
  private final Epoch epoch;
  private final List<Lane> lanes = new ArrayList<>();
  private final ProgressWatch watch;

  /** The rest is guarded by this. */
  private final State[] states;

  private final long[] failedNanos;
  private final Deque<TcpTicket> queue = new ArrayDeque<>();
  private boolean closed;

  TcpPeer(TcpTransport transport, Engine engine, InetSocketAddress address, Epoch epoch) {
    this.transport = transport;
    this.engine = engine;
    this.address = address;
    this.epoch = epoch;
    int count = engine.settings().connections();
    states = new State[count];
    failedNanos = new long[count];
    for (int i = 0; i < count; i++) {
      lanes.add(new Lane(this, engine));
      states[i] = State.DOWN;
      failedNanos[i] = engine.clock().getAsLong() - RETRY_NANOS;
    }
    watch = new ProgressWatch(engine, this);
  }

  @Override
  public Epoch epoch() {
    return epoch;
  }

  InetSocketAddress address() {
    return address;
  }

  List<Lane> lanes() {
    return lanes;
  }

  synchronized boolean closed() {
    return closed;
  }

  synchronized List<TcpTicket> queued() {
    return List.copyOf(queue);
  }

  DrainReceipt issue(TicketId ticket, Evidence evidence) {
    return engine.receipts().issue(ticket, evidence);
  }

  @Override
  public RemoteRegion importRegion(byte[] wireForm) {
    GrantForm form = GrantForm.read(wireForm);
    if (!form.grant().epoch().equals(epoch) || !form.requester().equals(engine.epoch())) {
      throw new TransportException(
          FaultCode.STALE_EPOCH,
          form.grant()
              + " for requester epoch "
              + form.requester()
              + " does not belong here: owner "
              + epoch
              + ", requester "
              + engine.epoch()
              + "; ask for a new grant");
    }
    return new ImportedRegion(this, form);
  }

  @Override
  public Ticket read(Batch batch, TicketId id, TicketOptions options) {
    if (!(batch.source() instanceof ImportedRegion source) || source.peer() != this) {
      throw new TransportException(
          FaultCode.INVALID, batch + " reads from a region that was not imported at this peer");
    }
    if (closed()) {
      throw new TransportException(
          FaultCode.CLOSING, "the peer " + this + " was closed; connect again");
    }
    TcpTicket ticket = transport.open(this, batch, id, source, options.progressTimeoutNanos());
    if (batch.bytes() == 0) {
      ticket.end(Outcome.COMPLETED);
      return ticket;
    }
    if (!enqueue(ticket)) {
      ticket.fail(FaultCode.CLOSING, "the peer " + this + " was closed");
      return ticket;
    }
    watch.add(ticket.progressTimeoutNanos());
    pump();
    return ticket;
  }

  private synchronized boolean enqueue(TcpTicket ticket) {
    if (closed) {
      return false;
    }
    queue.add(ticket);
    connectLanes();
    return true;
  }

  /** Starts every lane that is down; one that failed a moment ago only if no other is left. */
  private void connectLanes() {
    boolean alone = List.of(states).stream().allMatch(state -> state == State.DOWN);
    long now = engine.clock().getAsLong();
    for (int i = 0; i < states.length; i++) {
      if (states[i] == State.DOWN && (now - failedNanos[i] >= RETRY_NANOS || (alone && i == 0))) {
        engine.threads().start("read", lanes.get(i));
        states[i] = State.CONNECTING;
      }
    }
  }

  /** Takes the next part of the ticket whose turn it is; null if no ticket has one. */
  synchronized @Nullable Part nextPart(EntryList entries) {
    TcpTicket ticket = queue.poll();
    while (ticket != null && ticket.ended()) {
      ticket = queue.poll();
    }
    if (ticket == null) {
      return null;
    }
    Part part =
        ticket.plan(
            entries,
            engine.settings().requestBytes(),
            engine.requestIds().incrementAndGet(),
            engine.clock().getAsLong());
    if (!ticket.planned()) {
      queue.add(ticket);
    }
    return part;
  }

  /** Sends while a lane has room: one part each in turn, the least loaded lane first. */
  void pump() {
    Lane first = lanes.get(0);
    for (Lane lane : lanes) {
      if (lane.load() < first.load()) {
        first = lane;
      }
    }
    pump(first);
  }

  /** As {@link #pump()}, this lane first. */
  void pump(Lane first) {
    boolean sent;
    do {
      sent = hasQueued() && first.sendOne();
      for (Lane lane : lanes) {
        sent |= lane != first && hasQueued() && lane.sendOne();
      }
    } while (sent);
  }

  private synchronized boolean hasQueued() {
    return !queue.isEmpty();
  }

  /** A lane is up; in its thread. */
  void up(Lane lane) {
    synchronized (this) {
      states[lanes.indexOf(lane)] = State.UP;
    }
    if (closed()) {
      lane.shutdown("the peer object was closed");
    }
    pump(lane);
  }

  /**
   * A lane is down. Its thread calls this when it has let go of everything.
   *
   * @return the waiting tickets, which the caller fails, if that was the last lane
   */
  synchronized List<TcpTicket> down(Lane lane) {
    int index = lanes.indexOf(lane);
    states[index] = State.DOWN;
    failedNanos[index] = engine.clock().getAsLong();
    if (!List.of(states).stream().allMatch(state -> state == State.DOWN)) {
      return List.of();
    }
    List<TcpTicket> waiting = List.copyOf(queue);
    queue.clear();
    return waiting;
  }

  /** A ticket was ended before all its parts were sent. */
  synchronized void forget(TcpTicket ticket) {
    queue.remove(ticket);
  }

  /** Ends, after the grace, the connection whose thread is stuck inside an ended ticket. */
  void endStuckReceive(TcpTicket ticket) {
    engine.after(
        engine.graceNanos(),
        () -> {
          for (Lane lane : lanes) {
            if (!ticket.drained() && lane.receives(ticket)) {
              lane.shutdown("a receive was stuck inside " + ticket.id() + ", which had ended");
            }
          }
        });
  }

  @Override
  public void close() {
    List<TcpTicket> waiting;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      waiting = List.copyOf(queue);
      queue.clear();
    }
    waiting.forEach(ticket -> ticket.fail(FaultCode.CLOSING, "the peer " + this + " was closed"));
    lanes.forEach(lane -> lane.shutdown("the peer object was closed"));
    transport.closed(this);
  }

  @Override
  public String toString() {
    return TcpEndpoint.uri(address) + " of epoch " + epoch;
  }
}
