package io.orbitkv.adapter;

import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.SharedMapping;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The queries of one client and the leases that came of them. Thread-safe. */
final class Queries {
  private final Path socket;
  private final Connection connection;
  private final List<SharedMapping> arenas;
  private final Duration timeout;
  private final Set<BlockLease> leases = ConcurrentHashMap.newKeySet();

  /** Those whose answer has not been dealt with; none begins after {@code closed}. */
  private final Map<Object, CompletableFuture<Void>> pending = new ConcurrentHashMap<>();

  private volatile boolean closed;

  Queries(Path socket, Connection connection, List<SharedMapping> arenas, Duration timeout) {
    this.socket = socket;
    this.connection = connection;
    this.arenas = arenas;
    this.timeout = timeout;
  }

  PendingQuery submit(List<BlockName> names, QueryOptions query) {
    QueryOptions.check(names);
    List<BlockName> asked = List.copyOf(names);
    CompletableFuture<BlockLease> found = new CompletableFuture<>();
    CompletableFuture<Void> dealtWith = new CompletableFuture<>();
    Object key = new Object();
    pending.put(key, dealtWith);
    if (closed) {
      pending.remove(key);
      found.completeExceptionally(closedAlready());
      return new PendingQuery(connection, timeout, 0, found);
    }
    RingCall call =
        connection.begin(
            Opcode.QUERY, Names.encode(asked), query.deadline().toNanos(), query.flags());
    var _ =
        call.future()
            .thenApply(Answers::unlessRefused)
            .thenApply(taken -> keep(Answers.found(taken, asked, arenas, this::release)))
            .whenComplete(
                (lease, fault) -> {
                  if (fault != null) {
                    found.completeExceptionally(Answers.cause(fault));
                  } else if (!found.complete(lease)) {
                    var _ = lease.tryClose();
                  }
                })
            .whenComplete(
                (_, _) -> {
                  pending.remove(key);
                  dealtWith.complete(null);
                });
    return new PendingQuery(connection, timeout, call.id(), found);
  }

  BlockLease findAndWait(List<BlockName> names, QueryOptions query) {
    QueryOptions.check(names);
    List<BlockName> asked = List.copyOf(names);
    CompletableFuture<Void> dealtWith = new CompletableFuture<>();
    Object key = new Object();
    pending.put(key, dealtWith);
    try {
      if (closed) {
        throw closedAlready();
      }
      Taken answer =
          connection.command(
              Opcode.QUERY,
              Names.encode(asked),
              query.deadline().toNanos(),
              query.flags(),
              query.deadline().plus(timeout),
              this::releaseLate);
      return keep(Answers.found(answer, asked, arenas, this::release));
    } finally {
      pending.remove(key);
      dealtWith.complete(null);
    }
  }

  /** Whether no lease is left that arenas are needed for. */
  boolean noLeases() {
    return leases.isEmpty();
  }

  /** Releases all leases, of the queries to come as well; no query begins from now on. */
  void close() {
    closed = true;
    for (BlockLease lease : leases) {
      var _ = lease.tryClose();
    }
  }

  /** Completes once every query that is under way was dealt with. */
  CompletableFuture<Void> allDealtWith() {
    return CompletableFuture.allOf(pending.values().toArray(CompletableFuture[]::new));
  }

  private TransportException closedAlready() {
    return new TransportException(
        FaultCode.PEER_LOST,
        "Manager behind " + socket + ": this client was closed; connect again");
  }

  private void releaseLate(Taken answer) {
    if (answer.command().opcode() == Opcode.QUERY_ANSWER.wire()) {
      release(answer.command().scalar0());
    }
  }

  private BlockLease keep(BlockLease lease) {
    leases.add(lease);
    if (closed) {
      var _ = lease.tryClose();
    }
    return lease;
  }

  private void release(BlockLease lease) {
    leases.remove(lease);
    release(lease.id());
  }

  private void release(long lease) {
    if (lease == 0 || !connection.alive()) {
      return;
    }
    try {
      connection.tell(Opcode.RELEASE, lease, 0);
    } catch (TransportException e) {
      // Whoever can not be told any more sees the end of this process.
    }
  }
}
