package io.orbitkv.manager.local;

import io.orbitkv.adapter.ring.RingConsumer;
import io.orbitkv.adapter.ring.RingMemory;
import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Refusal;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.EventFd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Shutdown;
import io.orbitkv.manager.plan.Member;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session: its identity, state, leases and pending work. Thread-safe. Its token is the holder
 * of its leases. Its socket ends with the last answer; its leases end by release or by the exit of
 * its process, whichever is first, never with the socket.
 */
final class LocalSession implements SessionRing.Owner {
  private static final Logger LOG = LoggerFactory.getLogger(LocalSession.class);
  private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);

  private final long token;
  private final int slot;
  private final EngineProcess process;
  private final FrameChannel channel;
  private final LocalContext context;
  private final Consumer<LocalSession> whenEnded;
  private final EngineMemories memories;
  private final SessionWork work;
  private final SessionWriter writer;
  private final Member member;
  private final SessionPlans plans;
  private final Commands commands;
  private final SessionRing ring;
  private final Set<Long> leases = new HashSet<>();
  private SessionState state = SessionState.OPEN;
  private boolean exited;
  private boolean exitTold;
  private volatile boolean stopping;
  private boolean socketClosed;
  private boolean requestsEnded;
  private boolean ringEnded;
  private boolean lastFrame;
  private long closeRequest;

  LocalSession(
      long token,
      int slot,
      EngineProcess process,
      Member member,
      FrameChannel channel,
      RingMemory memory,
      EventFd wake,
      LocalContext context,
      Sessions sessions,
      Consumer<LocalSession> whenEnded) {
    this.token = token;
    this.slot = slot;
    this.process = process;
    this.channel = channel;
    this.context = context;
    this.whenEnded = whenEnded;
    this.memories = new EngineMemories(context.limits(), context.generations());
    this.work = new SessionWork(context.limits());
    this.writer = new SessionWriter(channel, "orbitkv-answers-" + slot, this::socketClosed);
    this.member = member;
    this.plans = new SessionPlans(this, context);
    this.commands = new Commands(this, context, sessions);
    this.ring =
        new SessionRing(
            memory, wake, context.epoch(), context.descriptors(), "orbitkv-ring-" + slot, this);
  }

  /** Its threads begin, and end by themselves. */
  void start() {
    member.whenChanged(this::advance);
    ring.start();
    writer.start();
  }

  long token() {
    return token;
  }

  int slot() {
    return slot;
  }

  EngineProcess process() {
    return process;
  }

  EngineMemories memories() {
    return memories;
  }

  SessionWriter writer() {
    return writer;
  }

  SessionRing ring() {
    return ring;
  }

  Member member() {
    return member;
  }

  SessionPlans plans() {
    return plans;
  }

  synchronized SessionState state() {
    return state;
  }

  /** Whether its process is proven to be gone. */
  synchronized boolean exited() {
    return exited;
  }

  /** Takes a place for work that is answered later, or refuses it. */
  synchronized void admit(SessionWork.Kind kind, long bytes) {
    // Each query that is pending may end as a lease.
    if (kind == SessionWork.Kind.QUERY
        && leases.size() + work.queries() >= context.limits().leasesPerSession()) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          leases.size()
              + " leases of this session are held and "
              + work.queries()
              + " queries are pending; release some, or raise --leases-per-session");
    }
    work.admit(kind, bytes);
  }

  /** Answers admitted work by a frame and gives its place back. */
  void answer(SessionWork.Kind kind, FrameKind frame, long requestId, MemorySegment body) {
    synchronized (this) {
      work.free(kind, 0);
    }
    writer.answer(frame, requestId, body);
    workEnded();
  }

  /** Answers an admitted command and gives its place back. */
  void answer(SessionWork.Kind kind, long bytes, Answer answer) {
    // First: who has the answer may use the place at once.
    synchronized (this) {
      work.free(kind, bytes);
    }
    answerPlaced(answer);
  }

  /** Answers an admitted command whose place was given back, as {@link #keep} does. */
  void answerPlaced(Answer answer) {
    ring.answer(answer);
    workEnded();
  }

  /** Gives a place back without an answer: the work was refused by other means. */
  void settle(SessionWork.Kind kind, long bytes) {
    synchronized (this) {
      work.free(kind, bytes);
    }
    workEnded();
  }

  private void workEnded() {
    synchronized (this) {
      work.ended();
      endIfAnswered();
    }
    advance();
  }

  /**
   * Keeps a query's lease for its holder, in the place of the query; gives it back at once if the
   * process is gone or the session was closed, since then nobody was told of it.
   *
   * @param bytes what the query was charged with
   * @return whether it is kept; only then was the query's place given back
   */
  boolean keep(long lease, long bytes) {
    synchronized (this) {
      if (!exited && !socketClosed) {
        leases.add(lease);
        // In one step, so that no query is counted twice nor missed.
        work.free(SessionWork.Kind.QUERY, bytes);
        return true;
      }
    }
    giveBack(lease);
    return false;
  }

  /** Whether it holds a lease. */
  synchronized boolean holds(long lease) {
    return leases.contains(lease);
  }

  /** A plan has taken the lease over. */
  synchronized void usedUp(long lease) {
    leases.remove(lease);
  }

  /** The answer that names the lease was never sent. */
  void neverTold(long lease) {
    boolean held;
    synchronized (this) {
      held = leases.remove(lease);
    }
    if (held) {
      giveBack(lease);
    }
    advance();
  }

  /**
   * The engine's word that it reads a lease no more.
   *
   * @throws TransportException NOT_FOUND if this session does not hold it
   */
  void release(long lease) {
    synchronized (this) {
      if (!leases.remove(lease)) {
        throw new TransportException(
            FaultCode.NOT_FOUND,
            "lease " + lease + " is not held by this session; it was released before");
      }
    }
    context.service().release(token, lease);
    advance();
  }

  /**
   * No further frame is read, and no command but those in the ring. With a request id, CLOSED is
   * the last frame.
   */
  void beginClosing(long request) {
    synchronized (this) {
      if (state != SessionState.OPEN) {
        return;
      }
      closeRequest = request;
      become(SessionState.CLOSING);
      endIfAnswered();
    }
    member.close();
    ring.close();
    advance();
  }

  @Override
  public void command(RingConsumer.Taken taken) {
    commands.accept(taken);
  }

  @Override
  public void broken(TransportException why) {
    LOG.info("session {} ends: {}", slot, why.getMessage());
    writer.answer(FrameKind.REFUSED, 0, Refusal.of(why).encode());
    beginClosing(0);
  }

  @Override
  public void requestsEnded() {
    synchronized (this) {
      requestsEnded = true;
      endIfAnswered();
    }
    advance();
  }

  @Override
  public void ended() {
    synchronized (this) {
      ringEnded = true;
      endIfAnswered();
    }
    advance();
  }

  /** The server stops: what was sent whole is still read and answered. */
  void stopReading() {
    stopping = true;
    try {
      channel.stream().shutdown(Shutdown.READ);
    } catch (IllegalStateException | NativeException _) {
      LOG.debug("session {}: ended by itself meanwhile", slot);
    }
  }

  /** Whether the server has begun to stop. */
  boolean stopping() {
    return stopping;
  }

  /** The pidfd is readable: everything that this process held ends. */
  void processExited() {
    synchronized (this) {
      if (exited) {
        return;
      }
      exited = true;
      leases.clear();
    }
    ring.drop();
    writer.abandon();
    memories.close();
    context.service().processExited(token);
    member.exited();
    synchronized (this) {
      exitTold = true;
    }
    advance();
  }

  private void socketClosed() {
    synchronized (this) {
      socketClosed = true;
      if (state == SessionState.OPEN) {
        become(SessionState.CLOSING);
      }
    }
    member.close();
    ring.end();
    advance();
  }

  private void endIfAnswered() {
    if (state != SessionState.CLOSING || !requestsEnded || !work.idle()) {
      return;
    }
    ring.finish();
    if (ringEnded && !lastFrame) {
      lastFrame = true;
      if (closeRequest != 0) {
        writer.answer(FrameKind.CLOSED, closeRequest, EMPTY);
      }
      writer.end();
    }
  }

  /** Takes the last steps that are due; every change of what they depend on calls it. */
  private void advance() {
    boolean over = false;
    boolean ended = false;
    synchronized (this) {
      if (state == SessionState.CLOSING && socketClosed && ringEnded && work.idle()) {
        over = true;
        boolean nothingHeld = nothingHeld();
        become(nothingHeld ? SessionState.ENDED : SessionState.RETAINED);
        ended = nothingHeld;
      } else if (state == SessionState.RETAINED && nothingHeld()) {
        become(SessionState.ENDED);
        ended = true;
      }
    }
    if (over) {
      memories.close();
    }
    if (ended) {
      whenEnded.accept(this);
    }
  }

  /** Of an exited process also the words are final, once they were read. */
  private boolean nothingHeld() {
    return exited ? exitTold : leases.isEmpty() && member.leave();
  }

  private void giveBack(long lease) {
    try {
      context.service().release(token, lease);
    } catch (TransportException e) {
      // processExited() has ended it before this could.
      LOG.debug("session {}: lease {} was ended already: {}", slot, lease, e.getMessage());
    }
  }

  private void become(SessionState next) {
    if (!state.canBecome(next)) {
      throw new IllegalStateException("session " + slot + ": " + state + " can not become " + next);
    }
    state = next;
  }
}
