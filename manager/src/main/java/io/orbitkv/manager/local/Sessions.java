package io.orbitkv.manager.local;

import io.orbitkv.adapter.ring.RingMemory;
import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.EventFd;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.PidFd;
import io.orbitkv.manager.plan.Member;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All sessions of a server and the processes behind them. Thread-safe. */
final class Sessions {
  private final LocalContext context;
  private final Runnable processesChanged;
  private final SecureRandom random = new SecureRandom();
  private final BitSet slots = new BitSet();
  private final Map<Long, LocalSession> byToken = new HashMap<>();
  private final List<EngineProcess> processes = new ArrayList<>();
  private boolean closing;

  /**
   * No sessions yet.
   *
   * @param processesChanged told after {@link #processes()} has changed
   */
  Sessions(LocalContext context, Runnable processesChanged) {
    this.context = context;
    this.processesChanged = processesChanged;
  }

  /**
   * Opens a session and takes the pidfd over, unless it throws.
   *
   * @param ring gets what the client maps, in the order of WELCOME; the first one, the memfd, is
   *     the caller's to close, the others are the session's
   * @throws TransportException EXHAUSTED, CLOSING, DEVICE
   */
  LocalSession open(
      long pid,
      PidFd pidFd,
      FrameChannel channel,
      List<Fd> ring,
      String instance,
      Member.Traits traits) {
    LocalSession session;
    synchronized (this) {
      int slot = slots.nextClearBit(0);
      if (closing) {
        throw new TransportException(
            FaultCode.CLOSING, "Manager is stopping; connect again once it runs");
      }
      if (slot >= context.limits().sessions()) {
        throw new TransportException(
            FaultCode.EXHAUSTED,
            "all "
                + context.limits().sessions()
                + " sessions are taken; close one, end a process that holds leases, or raise"
                + " --sessions");
      }
      Member member = context.instances().join(instance, traits.at(slot));
      long token = newToken();
      RingParts parts = makeRing(token, member);
      EventFd wake = parts.wake();
      RingMemory.Made made = parts.made();
      ring.addAll(made.descriptors());
      ring.addAll(member.descriptors());
      EngineProcess process = join(pid, pidFd);
      session =
          new LocalSession(
              token,
              slot,
              process,
              member,
              channel,
              made.memory(),
              wake,
              context,
              this,
              this::ended);
      slots.set(slot);
      byToken.put(session.token(), session);
      process.sessions().put(session.token(), session);
    }
    processesChanged.run();
    return session;
  }

  /** Refuses new sessions from now on. */
  synchronized void close() {
    closing = true;
  }

  /** The sessions that have not ended. */
  synchronized List<LocalSession> all() {
    return List.copyOf(byToken.values());
  }

  /** The processes behind them. */
  synchronized List<EngineProcess> processes() {
    return List.copyOf(processes);
  }

  /** How many have a socket. */
  synchronized int withSocket() {
    return (int) byToken.values().stream().filter(Sessions::hasSocket).count();
  }

  /** How many are of processes with that number. */
  synchronized int ofPid(long pid) {
    return (int) byToken.values().stream().filter(each -> each.process().pid() == pid).count();
  }

  /** Whether the process of a session that has not ended lives. */
  synchronized boolean processAlive(long token) {
    LocalSession session = byToken.get(token);
    // Its pidfd is closed only once it is off the list.
    return session != null
        && processes.contains(session.process())
        && !session.process().pidFd().hasExited();
  }

  /** The session of that token, if it is of that process; null if not. */
  synchronized @Nullable LocalSession ofProcess(EngineProcess process, long token) {
    return process.session(token);
  }

  /** The process is proven to be gone: ends its sessions and closes its pidfd. */
  void exited(EngineProcess process) {
    List<LocalSession> its;
    synchronized (this) {
      if (!processes.remove(process)) {
        return;
      }
      its = List.copyOf(process.sessions().values());
    }
    process.pidFd().close();
    RuntimeException failed = null;
    for (LocalSession session : its) {
      try {
        session.processExited();
      } catch (RuntimeException e) {
        failed = e;
      }
    }
    if (failed != null) {
      throw failed;
    }
  }

  /** Forgets what is left when the server closes. */
  void closePidFds() {
    List<EngineProcess> left;
    synchronized (this) {
      left = List.copyOf(processes);
      processes.clear();
    }
    left.forEach(process -> process.pidFd().close());
  }

  private record RingParts(EventFd wake, RingMemory.Made made) {}

  private RingParts makeRing(long token, Member member) {
    EventFd wake = null;
    try {
      wake = EventFd.create();
      return new RingParts(wake, RingMemory.create(context.epoch(), token));
    } catch (NativeException e) {
      if (wake != null) {
        wake.close();
      }
      var _ = member.leave();
      member.release();
      throw new TransportException(
          FaultCode.DEVICE,
          "the Manager can not make a ring: " + e.getMessage() + "; raise its limits",
          e);
    }
  }

  private EngineProcess join(long pid, PidFd pidFd) {
    for (EngineProcess process : processes) {
      // An exited process can share its number with this one; its own pidfd tells them apart.
      if (process.pid() == pid && !process.pidFd().hasExited()) {
        pidFd.close();
        return process;
      }
    }
    EngineProcess process = new EngineProcess(pid, pidFd);
    processes.add(process);
    return process;
  }

  private long newToken() {
    long token;
    do {
      token = random.nextLong();
    } while (token == 0 || byToken.containsKey(token));
    return token;
  }

  private void ended(LocalSession session) {
    EngineProcess process = session.process();
    boolean last;
    synchronized (this) {
      byToken.remove(session.token());
      process.sessions().remove(session.token());
      slots.clear(session.slot());
      last = process.sessions().isEmpty() && processes.remove(process);
      notifyAll();
    }
    session.member().release();
    if (last) {
      process.pidFd().close();
      processesChanged.run();
    }
  }

  /** Waits until every socket is closed; false at the deadline of {@link System#nanoTime()}. */
  synchronized boolean awaitSocketsClosed(long deadlineNanos) throws InterruptedException {
    while (byToken.values().stream().anyMatch(Sessions::hasSocket)) {
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      // Retained sessions do not notify, so this looks again by itself.
      wait(Math.clamp(left / 1_000_000, 1, 20));
    }
    return true;
  }

  private static boolean hasSocket(LocalSession session) {
    SessionState state = session.state();
    return state == SessionState.OPEN || state == SessionState.CLOSING;
  }
}
