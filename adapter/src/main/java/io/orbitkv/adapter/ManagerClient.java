package io.orbitkv.adapter;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.MemoryOffer;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.adapter.wire.SharedMapping;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.Protection;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A session of this process with the Manager of its host. Thread-safe; owned by the caller. A
 * blocking call takes its answer out of the shared memory itself. Futures are completed by one
 * thread of the client's own: what depends on a future must not block that thread, and blocking
 * calls of this client refuse to run on it. Idle, it uses no processor. A thread that is
 * interrupted in a blocking call may notice it a second later.
 *
 * <p>A lost connection fails all that is outstanding with {@link FaultCode#PEER_LOST} at once and
 * is final: connect a new client. Leases stay readable and pinned after it.
 */
public final class ManagerClient implements AutoCloseable {
  private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);

  private final Path socket;
  private final ClientOptions options;
  private final Connection connection;
  private final Queries queries;
  private final Publications publications;
  private final EnginePlans plans;
  private final AtomicBoolean closed = new AtomicBoolean();

  private ManagerClient(Path socket, ClientOptions options, Bootstrap bootstrap) {
    this.socket = socket;
    this.options = options;
    this.connection = new Connection(socket, bootstrap, options.timeout());
    this.queries = new Queries(socket, connection, bootstrap.arenas(), options.timeout());
    this.plans =
        new EnginePlans(
            connection, new PlanAccess(bootstrap), options.timeout(), queries::noLeases);
    this.publications = new Publications(this, connection, PublishBudget.OF_PROCESS);
  }

  /**
   * Connects, checks whose process is behind the socket, and maps the Manager's arenas for reading.
   * One of role worker makes them present meanwhile, on a thread that ends with that or with the
   * client, so that no copy has to.
   *
   * @throws TransportException PEER_LOST if no Manager answers behind the socket, DENIED if another
   *     user holds it or refuses this one, UNSUPPORTED for another protocol version, EXHAUSTED if
   *     the Manager has no free session, INVALID if the path is too long, or is not the socket of
   *     this process's {@link ChannelConfig}
   */
  public static ManagerClient connect(Path socket, ClientOptions options) {
    ClientOptions applied = ChannelConfig.appliedTo(options);
    Bootstrap bootstrap = Bootstrap.run(socket, applied);
    ManagerClient client = new ManagerClient(socket, applied, bootstrap);
    client.connection.start();
    if (applied.role() == Role.WORKER) {
      populate(socket, bootstrap.arenas());
    }
    return client;
  }

  private static void populate(Path socket, List<SharedMapping> arenas) {
    try {
      var _ =
          Thread.ofPlatform()
              .daemon()
              .name("orbitkv-client-populate " + socket.getFileName())
              .start(() -> arenas.forEach(SharedMapping::populate));
    } catch (OutOfMemoryError _) {
      // No thread is to be had: the copies map what they read.
    }
  }

  /**
   * Connects to the Manager of this process's {@link ChannelConfig}.
   *
   * @throws TransportException as above, and INVALID if there is none
   */
  public static ManagerClient connect(ClientOptions options) {
    return connect(ChannelConfig.socketOfProcess(), options);
  }

  /** The identity of the Manager's incarnation. */
  public Epoch managerEpoch() {
    return connection.epoch();
  }

  /** The token of this session, as the Manager's state names it. */
  public long session() {
    return connection.session();
  }

  /**
   * Whether the Manager's process lives, by its pidfd and whatever the connection is; by the
   * connection where that process can not be known. False is final. Never blocks.
   */
  public boolean peerAlive() {
    return connection.managerAlive();
  }

  /** Whether the connection stands; false for ever once it was lost or closed. Never blocks. */
  public boolean connected() {
    return connection.alive();
  }

  /** What this session's engine instance may copy. They end with this client. */
  public EnginePlans plans() {
    return plans;
  }

  /** The socket this client was connected to. */
  public Path socket() {
    return socket;
  }

  /**
   * New memory that the Manager may read, zeroed, registered.
   *
   * @param bytes at least 1
   * @throws TransportException EXHAUSTED at a limit, PEER_LOST, DEADLINE
   */
  public RegisteredMemory allocate(long bytes) {
    try (Fd memfd = Memfd.create("orbitkv-engine", bytes)) {
      Memfd.addSeals(memfd, Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW);
      Mapping mapping = Mapping.map(memfd, 0, bytes, Protection.READ_WRITE, false);
      boolean done = false;
      try {
        mapping.dontFork();
        MemoryOffer offer = new MemoryOffer(MemoryOffer.HOST_SHARED, 0, bytes);
        Frame answer =
            control("register", FrameKind.REGISTER, FrameKind.REGISTERED, offer.encode(), memfd);
        RegistrationId id = RegistrationId.decode(answer.body());
        done = true;
        return new RegisteredMemory(mapping, id, this, this::withdraw);
      } finally {
        if (!done) {
          mapping.close();
        }
      }
    }
  }

  /** As {@link #publish(List, PublishOptions)}, with the default options. */
  public Publication publish(List<Piece> pieces) {
    return publish(pieces, PublishOptions.DEFAULTS);
  }

  /**
   * Publishes blocks; returns at once, except that a full ring holds it, for the client's timeout
   * at most.
   *
   * @param pieces 1 to 16,384, of memory of this client
   * @return the publish that was submitted
   * @throws SaveNotSubmitted if the command is proven not to have got into the ring: EXHAUSTED (so
   *     many publishes of this process have not ended, or threads are in here), DEADLINE (the ring
   *     stayed full), PEER_LOST, INVALID, DENIED in a forked child
   */
  public Publication publish(List<Piece> pieces, PublishOptions publish) {
    return publications.submit(pieces, publish);
  }

  /**
   * Publishes blocks and waits.
   *
   * @throws SaveNotSubmitted as above
   * @throws TransportException as {@link Publication#await}, and DEADLINE if the timeout was
   *     shorter; the publish goes on then
   */
  public List<PublishResult> publish(List<Piece> pieces, PublishOptions publish, Duration timeout) {
    connection.refuseOwnThreads("publish");
    return publish(pieces, publish).await(timeout).orElseThrow(() -> Publications.pending(timeout));
  }

  /** As {@link #publish(List, PublishOptions, Duration)}, with the default options. */
  public List<PublishResult> publish(List<Piece> pieces, Duration timeout) {
    return publish(pieces, PublishOptions.DEFAULTS, timeout);
  }

  /** What this client's publishes are doing. Never blocks. */
  public PublishActivity publishActivity() {
    return publications.activity();
  }

  /**
   * Asks for blocks; returns at once, except that a full ring holds it, for the client's timeout at
   * most.
   *
   * @param names at most 65,536
   * @return what was found, possibly nothing; the caller closes it. Exceptionally with a {@link
   *     TransportException}: EXHAUSTED, INVALID, CLOSING, PEER_LOST. A future that was cancelled
   *     releases what comes later
   */
  public CompletableFuture<BlockLease> query(List<BlockName> names, QueryOptions query) {
    return submitQuery(names, query).result();
  }

  /** As {@link #query}, for a caller who may ask how it stands, or take it back. */
  public PendingQuery submitQuery(List<BlockName> names, QueryOptions query) {
    return queries.submit(names, query);
  }

  /**
   * Asks for blocks and waits: at most the deadline of the options and the client's timeout.
   *
   * @throws TransportException as above, and DEADLINE if no answer came; what comes later is
   *     released
   */
  public BlockLease queryAndWait(List<BlockName> names, QueryOptions query) {
    return queries.findAndWait(names, query);
  }

  /**
   * Asks the Manager for an answer and waits for it: one round trip of the channel.
   *
   * @throws TransportException PEER_LOST, DEADLINE after the client's timeout
   */
  public void ping() {
    var _ =
        Answers.expect(
            connection.command(Opcode.PING, new byte[0], 0, 0, options.timeout(), null),
            Opcode.PONG);
  }

  /**
   * The Manager's state as one JSON object.
   *
   * @throws TransportException PEER_LOST, DEADLINE
   */
  public String status() {
    Frame answer = control("status", FrameKind.STATUS, FrameKind.STATUS_TEXT, EMPTY);
    return new String(answer.body().toArray(ValueLayout.JAVA_BYTE), UTF_8);
  }

  /**
   * Releases the leases, ends the session and unmaps the arenas once no copy is under way. Waits
   * for the answers of queries, whose leases it releases, and for the Manager's last answer, for
   * the client's timeout each; then fails what is outstanding. Memory that was allocated is
   * unmapped by its own {@code close()}. A second call does nothing.
   */
  @Override
  public void close() {
    OwnProcess.check();
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      queries.close();
      if (connection.alive()) {
        // The Manager reads nothing behind CLOSE: no release of a lease that comes later either.
        var _ = connection.await(queries.allDealtWith(), "close", options.timeout());
        var _ = control("close", FrameKind.CLOSE, FrameKind.CLOSED, EMPTY);
      }
    } catch (TransportException e) {
      // The session is over whether or not the Manager said so; leases end with this process.
    } finally {
      connection.end("this client was closed");
      plans.close();
    }
  }

  private void withdraw(RegisteredMemory memory) {
    if (!connection.alive()) {
      return;
    }
    try {
      var _ =
          control(
              "unregister",
              FrameKind.UNREGISTER,
              FrameKind.UNREGISTERED,
              memory.registration().encode());
    } catch (TransportException e) {
      if (e.code() != FaultCode.PEER_LOST) {
        throw e;
      }
    }
  }

  private Frame control(
      String what, FrameKind kind, FrameKind expected, MemorySegment body, Fd... descriptors) {
    Frame answer =
        connection.await(connection.call(kind, body, descriptors), what, options.timeout());
    if (!answer.is(expected)) {
      throw new TransportException(
          FaultCode.CORRUPT,
          what
              + ": answered by a frame of kind "
              + answer.header().kind()
              + " of version "
              + Command.VERSION);
    }
    return answer;
  }
}
