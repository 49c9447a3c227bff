package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.Welcome;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Shutdown;
import io.orbitkv.ffm.UnixListener;
import io.orbitkv.ffm.UnixStream;
import io.orbitkv.manager.plan.Instances;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Manager's end of the same-host channel. Owned by the Manager; thread-safe. It owns a thread
 * that accepts, two per session, one that watches processes, and those that copy.
 *
 * <p>A client that stalls, breaks the protocol or dies touches no session but its own.
 */
public final class LocalServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LocalServer.class);
  private static final int GREETINGS = 16;
  private static final int BACKLOG = 128;
  private static final long ACCEPT_RETRY_NANOS = 50_000_000;

  private final LocalOptions options;
  private final UnixListener listener;
  private final LocalContext context;
  private final Sessions sessions;
  private final Greeting greeting;
  private final ProcessWatch watch;
  private final ExecutorService copies;
  private final List<Fd> arenas;
  private final Set<FrameChannel> greeted = ConcurrentHashMap.newKeySet();
  private final Set<Thread> readers = ConcurrentHashMap.newKeySet();
  private final Semaphore greetings = new Semaphore(GREETINGS);
  private final Thread acceptor;
  private final AtomicBoolean stopping = new AtomicBoolean();

  private LocalServer(
      LocalOptions options,
      Epoch epoch,
      BlockService service,
      UnixListener listener,
      List<Fd> arenas,
      List<Welcome.ArenaOffer> offers) {
    LocalLimits limits = options.limits();
    this.options = options;
    this.listener = listener;
    this.arenas = arenas;
    this.copies =
        Executors.newFixedThreadPool(
            limits.copyThreads(), Thread.ofPlatform().daemon().name("orbitkv-copy-", 0).factory());
    this.context =
        new LocalContext(
            service,
            epoch,
            new Instances(epoch, maxPromisedBytes(service)),
            limits,
            copies,
            new Semaphore(limits.queries()),
            new AtomicLong(),
            BodyBudget.ofHeap(FrameHeader.BODY_LIMIT),
            DescriptorRoom.ofHeap(),
            new LongAdder());
    this.sessions = new Sessions(context, this::processesChanged);
    this.watch = new ProcessWatch(limits.sessions(), sessions::processes, sessions::exited);
    this.greeting = new Greeting(options, context, sessions, arenas, offers);
    this.acceptor = Thread.ofPlatform().daemon().name("orbitkv-accept").unstarted(this::acceptAll);
  }

  /**
   * Listens and serves.
   *
   * @param socket path of the Unix socket, at most 107 bytes; a dead listener's file is replaced
   * @param epoch the Manager's
   * @param service answers for the blocks; its arenas are passed to every client
   * @throws TransportException IN_USE if another Manager serves the path, INVALID for a path or an
   *     arena that can not be served, DEVICE if the system refuses
   */
  public static LocalServer start(
      Path socket, LocalOptions options, Epoch epoch, BlockService service) {
    List<Fd> arenas = new ArrayList<>();
    List<Welcome.ArenaOffer> offers = new ArrayList<>();
    boolean done = false;
    try {
      SharedArenas.prepare(service.arenas(), arenas, offers);
      UnixListener listener = SocketFile.listen(socket, options, BACKLOG);
      LocalServer server =
          new LocalServer(options, epoch, service, listener, List.copyOf(arenas), offers);
      server.acceptor.start();
      done = true;
      return server;
    } finally {
      if (!done) {
        arenas.forEach(Fd::close);
      }
    }
  }

  /**
   * Whether a server could listen there now, to be asked before something costly is begun: the
   * socket's file is made and removed. What is free now need not be at {@link #start}.
   *
   * @throws TransportException as {@link #start} for the path
   */
  public static void checkFree(Path socket) {
    SocketFile.listen(socket, LocalOptions.DEFAULTS, 1).close();
  }

  /** The path it listens on. */
  public Path socketPath() {
    return listener.path();
  }

  /** Sessions that take a slot, those that ended with leases included. */
  public int sessions() {
    return sessions.all().size();
  }

  /** Sessions whose socket is open. */
  public int connections() {
    return sessions.withSocket();
  }

  /** Sessions of a process that take a slot, by its number at the time that it connected. */
  public int sessionsOf(long pid) {
    return sessions.ofPid(pid);
  }

  /**
   * Whether the process behind a session lives, by its pidfd alone: a socket that closed says
   * nothing of it. False is final, and what is said of a session that has ended. Never blocks.
   */
  public boolean peerAlive(long session) {
    return sessions.processAlive(session);
  }

  /** Queries of all sessions that are not answered yet. */
  public int pendingQueries() {
    return options.limits().queries() - context.queries().availablePermits();
  }

  /** The engine instances and their plans. */
  public Instances instances() {
    return context.instances();
  }

  /** Half of the pool, so that one instance can not starve the others of memory. */
  private static long maxPromisedBytes(BlockService service) {
    return service.arenas().stream().mapToLong(BlockService.SharedArena::bytes).sum() / 2;
  }

  /** Requests and connections that a limit has refused so far. */
  public long refusals() {
    return context.refusals().sum();
  }

  /**
   * Takes no new session, answers every frame that arrived whole, closes the sockets and ends the
   * watch. Waits for the answers as long as the options say. Leases stay with the service; the exit
   * of a process ends none of them from now on. A second call does nothing.
   *
   * @return false if the time was up first: sockets were closed with answers outstanding, and
   *     copies may still be under way
   */
  public boolean stop() {
    sessions.close();
    if (!stopping.compareAndSet(false, true)) {
      return true;
    }
    long deadlineNanos = System.nanoTime() + options.stopWithin().toNanos();
    listener.close();
    // The acceptor may wait for a greeting to end; then it may have begun another one.
    greeted.forEach(LocalServer::endReading);
    Joining.join(acceptor);
    greeted.forEach(LocalServer::endReading);
    sessions.all().forEach(LocalSession::stopReading);
    boolean answered = false;
    try {
      answered = sessions.awaitSocketsClosed(deadlineNanos);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    if (!answered) {
      LOG.warn("local server: not all was answered in {}; closing", options.stopWithin());
      sessions.all().forEach(session -> session.writer().abandon());
    }
    readers.forEach(Joining::join);
    watch.close();
    copies.shutdown();
    sessions.closePidFds();
    context.instances().close();
    arenas.forEach(Fd::close);
    return answered;
  }

  /** As {@link #stop()}. */
  @Override
  public void close() {
    var _ = stop();
  }

  private void processesChanged() {
    watch.changed();
  }

  private void acceptAll() {
    while (true) {
      greetings.acquireUninterruptibly();
      UnixStream stream = acceptOne();
      if (stream == null) {
        return;
      }
      FrameChannel channel = new FrameChannel(stream);
      greeted.add(channel);
      Thread reader =
          Thread.ofPlatform().daemon().name("orbitkv-session").unstarted(() -> serve(channel));
      readers.add(reader);
      reader.start();
    }
  }

  private @Nullable UnixStream acceptOne() {
    while (true) {
      try {
        return listener.accept();
      } catch (IllegalStateException _) {
        return null; // closed between two calls
      } catch (NativeException e) {
        LOG.warn("local server: accepting failed, trying again: {}", e.getMessage());
        LockSupport.parkNanos(ACCEPT_RETRY_NANOS);
      }
    }
  }

  private void serve(FrameChannel channel) {
    try {
      LocalSession session = null;
      try {
        session = greeting.greet(channel);
      } finally {
        greeted.remove(channel);
        greetings.release();
      }
      if (session != null) {
        if (stopping.get()) {
          session.stopReading();
        }
        new SessionReader(session, channel, context).run();
      }
    } catch (RuntimeException e) {
      LOG.error("local server: a session's reader failed", e);
    } finally {
      readers.remove(Thread.currentThread());
    }
  }

  private static void endReading(FrameChannel channel) {
    try {
      channel.stream().shutdown(Shutdown.READ);
    } catch (IllegalStateException e) {
      LOG.debug("local server: a greeting ended by itself: {}", e.getMessage());
    }
  }
}
