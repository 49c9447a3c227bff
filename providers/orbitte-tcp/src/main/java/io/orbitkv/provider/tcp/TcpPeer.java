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
 * One peer at the requester: its lanes, and the tickets that still have parts to send. The first of
 * several lanes is for small tickets, so that they do not wait behind bulk; the others are for the
 * rest. Where a kind has no lane that is up, those of the other serve it. The tickets of a queue
 * take turns, a part at a time. Locks are taken in the order lane, then peer. Thread-safe.
 */
final class TcpPeer implements Peer {
  private static final long RETRY_NANOS = 1_000_000_000;
  private static final int MOST_MISSES = 8;

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
  private final WordCarrier words;

  /** The rest is guarded by this. */
  private final State[] states;

  private final long[] failedNanos;

  /** With one lane the second has every ticket. */
  private final Deque<TcpTicket> smallQueue = new ArrayDeque<>();

  private final Deque<TcpTicket> bulkQueue = new ArrayDeque<>();
  private boolean closed;

  /** What {@link #wants} needs to know without the monitor. */
  private volatile int queuedSmall;

  private volatile int queuedBulk;
  private volatile boolean smallUp;
  private volatile boolean bulkUp;

  /** Tickets to be waited for by a thread, until it is believed again that all will be. */
  private volatile int doubts = 1;

  private int misses;

  TcpPeer(TcpTransport transport, Engine engine, InetSocketAddress address, Epoch epoch) {
    this.transport = transport;
    this.engine = engine;
    this.address = address;
    this.epoch = epoch;
    int count = engine.settings().connections();
    states = new State[count];
    failedNanos = new long[count];
    for (int i = 0; i < count; i++) {
      lanes.add(new Lane(this, engine, count > 1 && i == 0));
      states[i] = State.DOWN;
      failedNanos[i] = engine.clock().getAsLong() - RETRY_NANOS;
    }
    watch = new ProgressWatch(engine, this);
    words = new WordCarrier(engine, transport.carriers(), address, epoch);
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

  /** Says what the lanes can not say any more, also once this is closed. */
  WordCarrier words() {
    return words;
  }

  synchronized boolean closed() {
    return closed;
  }

  synchronized List<TcpTicket> queued() {
    List<TcpTicket> tickets = new ArrayList<>(smallQueue);
    tickets.addAll(bulkQueue);
    return tickets;
  }

  /** Whether a thread is likely to wait for the ticket that was just submitted. */
  boolean awaited() {
    return doubts == 0;
  }

  /** A thread waits for a ticket that is not settled. */
  void waits() {
    if (doubts > 0) {
      synchronized (this) {
        doubts = Math.max(0, doubts - 1);
        misses = doubts == 0 ? misses / 2 : misses;
      }
    }
  }

  /** No thread came to wait. */
  synchronized void unattended() {
    misses = Math.min(misses + 1, MOST_MISSES);
    doubts = 1 << misses;
  }

  /** Sees to it that what is in flight is received, as {@link Lane#attend}. */
  void attend(boolean awaited) {
    for (Lane lane : lanes) {
      lane.attend(awaited);
    }
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
    attend(awaited());
    return ticket;
  }

  private synchronized boolean enqueue(TcpTicket ticket) {
    if (closed) {
      return false;
    }
    // First: what throws for want of a thread has submitted nothing.
    connectLanes();
    queueOf(ticket).add(ticket);
    count();
    return true;
  }

  /** Starts every lane that is down; one that failed a moment ago only if no other is left. */
  private void connectLanes() {
    boolean alone = List.of(states).stream().allMatch(state -> state == State.DOWN);
    long now = engine.clock().getAsLong();
    for (int i = 0; i < states.length; i++) {
      if (states[i] == State.DOWN && (now - failedNanos[i] >= RETRY_NANOS || (alone && i == 0))) {
        engine.threads().start("read", lanes.get(i));
        become(i, State.CONNECTING);
      }
    }
  }

  private Deque<TcpTicket> queueOf(TcpTicket ticket) {
    return lanes.size() > 1 && ticket.small() ? smallQueue : bulkQueue;
  }

  private void count() {
    queuedSmall = smallQueue.size();
    queuedBulk = bulkQueue.size();
  }

  private void become(int lane, State state) {
    states[lane] = state;
    smallUp = hasLaneUp(true);
    bulkUp = hasLaneUp(false);
  }

  /**
   * Whether there may be a part for this lane. Asked before its lock is: a thread with a small READ
   * holds that while it sends, and must not be waited for by one with bulk, nor the other way.
   */
  private boolean wants(Lane lane) {
    boolean small = lane.forSmall();
    int own = small ? queuedSmall : queuedBulk;
    int other = small ? queuedBulk : queuedSmall;
    return own > 0 || (other > 0 && !isUp(!small));
  }

  /** Whether a kind has a lane that is up. */
  private boolean isUp(boolean small) {
    return small ? smallUp : bulkUp;
  }

  /** Takes the next part, of the ticket whose turn it is, for a lane; null if there is none. */
  synchronized @Nullable Part nextPart(Lane lane, EntryList entries) {
    boolean forSmall = lane.forSmall();
    Part part = nextPart(forSmall ? smallQueue : bulkQueue, entries);
    if (part == null && !isUp(!forSmall)) {
      part = nextPart(forSmall ? bulkQueue : smallQueue, entries);
    }
    count();
    return part;
  }

  private @Nullable Part nextPart(Deque<TcpTicket> queue, EntryList entries) {
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

  private boolean hasLaneUp(boolean forSmall) {
    for (int i = forSmall ? 0 : 1; i < (forSmall ? 1 : states.length); i++) {
      if (states[i] == State.UP) {
        return true;
      }
    }
    return false;
  }

  /** Sends while a lane has room: one part each in turn, the least loaded lane first. */
  void pump() {
    if (queuedSmall + queuedBulk == 0) {
      return;
    }
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
    boolean sent = true;
    while (sent) {
      sent = wants(first) && first.sendOne();
      for (Lane lane : lanes) {
        if (lane != first && wants(lane) && lane.sendOne()) {
          sent = true;
          lane.attend(awaited());
        }
      }
    }
  }

  /** A lane is up; in its thread. */
  void up(Lane lane) {
    synchronized (this) {
      become(lanes.indexOf(lane), State.UP);
    }
    if (closed()) {
      lane.shutdown("the peer object was closed");
    }
    pump(lane);
  }

  /**
   * A lane is down. Its thread calls this when it has let go of everything. What waits is tried on
   * another connection; if the last one was never up, there is none to be had.
   *
   * @return the waiting tickets, which the caller fails, if there is none to be had
   */
  synchronized List<TcpTicket> down(Lane lane) {
    int index = lanes.indexOf(lane);
    boolean wasUp = states[index] == State.UP;
    become(index, State.DOWN);
    failedNanos[index] = engine.clock().getAsLong();
    boolean none = List.of(states).stream().allMatch(state -> state == State.DOWN);
    if (none && (!wasUp || closed)) {
      return takeQueued();
    }
    if (queuedSmall + queuedBulk > 0) {
      connectLanes();
    }
    return List.of();
  }

  private List<TcpTicket> takeQueued() {
    List<TcpTicket> waiting = queued();
    smallQueue.clear();
    bulkQueue.clear();
    count();
    return waiting;
  }

  /** A ticket was ended before all its parts were sent. */
  synchronized void forget(TcpTicket ticket) {
    queueOf(ticket).remove(ticket);
    count();
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
      waiting = takeQueued();
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
