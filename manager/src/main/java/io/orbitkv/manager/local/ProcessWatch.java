package io.orbitkv.manager.local;

import io.orbitkv.ffm.EventFd;
import io.orbitkv.ffm.Poll;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that waits for the exit of every attached process. It owns the event that wakes it;
 * the pidfds are the processes'.
 */
final class ProcessWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProcessWatch.class);

  private final EventFd wake = EventFd.create();
  private final Poll poll;
  private final Supplier<List<EngineProcess>> processes;
  private final Consumer<EngineProcess> exited;
  private final Thread thread;
  private volatile boolean closing;

  /**
   * Starts the thread.
   *
   * @param capacity the most processes at once
   * @param processes those to watch now
   * @param exited told once per process; it must be off the list, its pidfd closed, on return
   */
  ProcessWatch(
      int capacity, Supplier<List<EngineProcess>> processes, Consumer<EngineProcess> exited) {
    this.poll = new Poll(capacity + 1);
    this.processes = processes;
    this.exited = exited;
    this.thread = Thread.ofPlatform().daemon().name("orbitkv-process-watch").start(this::watch);
  }

  /** The list has changed. */
  void changed() {
    synchronized (this) {
      if (!closing) {
        wake.signal();
      }
    }
  }

  /** Ends the thread and waits for it. */
  @Override
  public void close() {
    synchronized (this) {
      closing = true;
      wake.signal();
    }
    Joining.join(thread);
    wake.close();
  }

  private void watch() {
    while (!closing) {
      for (EngineProcess process : exitedOnes()) {
        try {
          exited.accept(process);
        } catch (RuntimeException e) {
          LOG.error("engine process {}: ending what it held failed", process.pid(), e);
        }
      }
    }
  }

  private List<EngineProcess> exitedOnes() {
    List<EngineProcess> watched = processes.get();
    poll.clear();
    var _ = poll.add(wake.fd(), Poll.IN);
    List<EngineProcess> polled = new ArrayList<>();
    for (EngineProcess process : watched) {
      var _ = poll.add(process.pidFd().fd(), Poll.IN);
      polled.add(process);
    }
    try {
      var _ = poll.poll(-1);
    } catch (IllegalStateException _) {
      return List.of(); // one of them left the list meanwhile
    }
    var _ = wake.tryConsume();
    List<EngineProcess> gone = new ArrayList<>();
    for (int i = 0; i < polled.size(); i++) {
      if ((poll.ready(i + 1) & Poll.IN) != 0) {
        gone.add(polled.get(i));
      }
    }
    return gone;
  }
}
