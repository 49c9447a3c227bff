package io.orbitkv.cli.replay;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Carries out requests one after the other, as an engine would: asks for the blocks, copies out and
 * compares what is there, computes and publishes the rest. Owned and used by one thread; {@link
 * #close} withdraws its memory.
 */
final class RequestRun implements AutoCloseable {
  private final ReplayOptions options;
  private final ReplayTally tally;
  private final QueryOptions query;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment page;
  private final Map<ManagerLink, Staging> stagings = new HashMap<>();
  private final List<Staging> abandoned = new ArrayList<>();

  RequestRun(ReplayOptions options, ReplayTally tally) {
    this.options = options;
    this.tally = tally;
    this.query = new QueryOptions(true, true, options.deadline());
    this.page = arena.allocate(options.blockBytes(), 64);
  }

  /** The name of a block of the trace: its hash as 8 bytes, big-endian. */
  static BlockName name(String namespace, long hash) {
    return BlockName.of(namespace, ByteBuffer.allocate(Long.BYTES).putLong(hash).array());
  }

  /** Carries out one request; whatever fails in it is counted, not thrown. */
  void run(TraceRequest request, ManagerLink link, ManagerClient client)
      throws InterruptedException {
    List<BlockName> names =
        request.hashes().stream().map(hash -> name(options.namespace(), hash)).toList();
    if (names.isEmpty()) {
      return;
    }
    try {
      int hits = read(names, client);
      if (client.connected()) {
        publish(names.subList(hits, names.size()), link, client);
      }
    } catch (IllegalStateException e) {
      // Another thread may have replaced a lost client, and closed this one, in the middle.
      if (client.connected()) {
        throw e;
      }
      tally.failed(FaultCode.PEER_LOST, "the session with " + client.socket() + " was lost");
    }
  }

  private int read(List<BlockName> names, ManagerClient client) {
    long begun = System.nanoTime();
    try (BlockLease lease = client.queryAndWait(names, query)) {
      return copyOut(lease, System.nanoTime() - begun);
    } catch (TransportException e) {
      tally.failed(e.code(), message(e));
      tally.read(System.nanoTime() - begun, 0, false);
      return 0;
    }
  }

  // Comparing is this program's business: only the query and the copies are an engine's time.
  private int copyOut(BlockLease lease, long queryNanos) {
    long nanos = queryNanos;
    int hits = 0;
    boolean fromPeer = false;
    for (LeasedBlock block : lease.blocks()) {
      fromPeer |= block.origin() == Origin.PEER;
      if (block.index() != hits) {
        break;
      }
      if (block.bytes() != options.blockBytes()) {
        // Another length can only be another block's bytes: all of them are wrong.
        tally.hit(block.origin(), block.bytes(), block.bytes());
        hits++;
        continue;
      }
      long begun = System.nanoTime();
      try {
        lease.copyTo(block, page);
      } catch (TransportException e) {
        tally.failed(e.code(), message(e));
        break;
      }
      nanos += System.nanoTime() - begun;
      long wrong = BlockPattern.of(options.seed(), block.name()).countMismatches(page);
      tally.hit(block.origin(), block.bytes(), wrong);
      hits++;
    }
    tally.read(nanos, hits, fromPeer);
    return hits;
  }

  private void publish(List<BlockName> names, ManagerLink link, ManagerClient client)
      throws InterruptedException {
    int most = Staging.capacity(options);
    for (int from = 0; from < names.size(); from += most) {
      List<BlockName> part = names.subList(from, Math.min(names.size(), from + most));
      try {
        Staging staging = staging(link, client);
        staging.fill(part);
        long begun = System.nanoTime();
        List<PublishResult> results = staging.publish(part);
        tally.publishTook(System.nanoTime() - begun);
        results.forEach(this::count);
      } catch (TransportException e) {
        tally.failed(e.code(), message(e));
        if (!client.connected()) {
          return;
        }
      }
    }
  }

  private void count(PublishResult result) {
    switch (result.status()) {
      case STORED -> tally.published(options.blockBytes());
      case PRESENT -> tally.present(options.blockBytes());
      case FAULT ->
          tally.failed(
              result.code() == null ? FaultCode.UNKNOWN : result.code(),
              "publish: " + Reason.of(result));
    }
  }

  private Staging staging(ManagerLink link, ManagerClient client) {
    @Nullable Staging staging = stagings.get(link);
    if (staging == null || !staging.usable(client)) {
      if (staging != null) {
        abandoned.add(staging);
        stagings.remove(link);
      }
      staging = new Staging(client, options);
      stagings.put(link, staging);
    }
    return staging;
  }

  private static String message(TransportException e) {
    return String.valueOf(e.getMessage());
  }

  @Override
  public void close() {
    abandoned.addAll(stagings.values());
    try {
      for (Staging staging : abandoned) {
        close(staging);
      }
    } finally {
      arena.close();
    }
  }

  private void close(Staging staging) {
    try {
      staging.close();
    } catch (TransportException e) {
      tally.failed(e.code(), message(e));
    }
  }
}
