package io.orbitkv.bench;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * What an engine waits for when its Manager fetches blocks from another one: query, look-up, grant,
 * read, receipt, seal, lease, answer. The blocks are asked for in a ring that the asked Manager's
 * pool can not hold, so that each is fetched every time. Used by one thread.
 */
public final class WholePath implements Contender, AutoCloseable {
  private static final Duration PUBLISH = Duration.ofSeconds(60);
  private static final int PUBLISHED_AT_ONCE = 16;

  private final ManagerClient asked;
  private final LongSupplier cpuNanos;
  private final long blockBytes;
  private final List<BlockName> names = new ArrayList<>();
  private final MemorySegment copy;
  private final List<Sample> fetches = new ArrayList<>();
  private int next;

  private WholePath(ManagerClient asked, LongSupplier cpuNanos, long blockBytes) {
    this.asked = asked;
    this.cpuNanos = cpuNanos;
    this.blockBytes = blockBytes;
    copy = Arena.ofAuto().allocate(blockBytes);
  }

  /**
   * Publishes blocks to one Manager, to be asked of the other.
   *
   * @param owner socket of the Manager that has the blocks; its pool has room for them all
   * @param asked socket of the Manager whose pool has room for less than all
   * @param blocks how many
   * @param cpuNanos the processor time of both Managers
   * @throws TransportException if a Manager can not be reached, or does not take the blocks
   */
  public static WholePath open(
      Path owner, Path asked, long blockBytes, int blocks, LongSupplier cpuNanos) {
    WholePath path =
        new WholePath(ManagerClient.connect(asked, ClientOptions.DEFAULTS), cpuNanos, blockBytes);
    try (ManagerClient client = ManagerClient.connect(owner, ClientOptions.DEFAULTS);
        RegisteredMemory memory = client.allocate(PUBLISHED_AT_ONCE * blockBytes)) {
      for (int first = 0; first < blocks; first += PUBLISHED_AT_ONCE) {
        path.publish(client, memory, first, Math.min(PUBLISHED_AT_ONCE, blocks - first));
      }
      return path;
    } catch (RuntimeException e) {
      path.close();
      throw e;
    }
  }

  private void publish(ManagerClient client, RegisteredMemory memory, int first, int count) {
    List<Piece> pieces = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] hash = ByteBuffer.allocate(Long.BYTES).putLong(first + i).array();
      BlockName name = BlockName.of("bench", hash);
      names.add(name);
      Pattern.fill(memory.segment().asSlice(i * blockBytes, blockBytes), (first + i) * blockBytes);
      pieces.add(new Piece(name, memory, i * blockBytes, blockBytes));
    }
    for (PublishResult result : client.publish(pieces, PUBLISH)) {
      if (result.status() == PublishResult.Status.FAULT) {
        throw new TransportException(
            FaultCode.EXHAUSTED, "whole path: " + result.name() + ": " + result.detail());
      }
    }
  }

  @Override
  public String name() {
    return "two Managers";
  }

  @Override
  public Sample measure(LoopShape shape, double warmUpSeconds, double seconds) {
    LoopTally tally = new LoopTally();
    repeat(shape.batch(), warmUpSeconds, tally);
    tally.reset();
    long cpu = cpuNanos.getAsLong();
    repeat(shape.batch(), seconds, tally);
    cpu = cpuNanos.getAsLong() - cpu;
    Sample whole =
        new Sample(
            name(),
            shape.batch(),
            tally.gbps(),
            LoopTally.times(tally.whole),
            Sample.Times.NONE,
            Sample.Times.NONE,
            LoopTally.times(tally.whole),
            Sample.Times.NONE,
            (double) cpu / tally.bytes,
            0,
            tally.whole.getTotalCount(),
            tally.errors,
            tally.failure,
            List.of(tally.gbps()),
            "");
    fetches.add(fetch(whole));
    return whole;
  }

  /**
   * Of the last measurements what lies between the question for a grant and the receipt, by the
   * clock of the Manager that was asked: prepare is the grant, transfer the rest. Of its last 256
   * fetches, which are of more than one measurement if one has fewer; the processor time is that of
   * the whole path.
   *
   * @param measurements how many, at most as many as there were
   */
  public List<Sample> fetches(int measurements) {
    return List.copyOf(fetches.subList(fetches.size() - measurements, fetches.size()));
  }

  private Sample fetch(Sample whole) {
    JsonObject times =
        JsonParser.parseString(asked.status()).getAsJsonObject().getAsJsonObject("fetches");
    Sample.Times between = times(times, "whole");
    double bytes = (double) blockBytes * whole.batch();
    double gbps = between.mean() == 0 ? 0 : bytes / between.mean() / 1e3;
    return new Sample(
        "grant, read, receipt",
        whole.batch(),
        gbps,
        between,
        times(times, "grant"),
        Sample.Times.NONE,
        times(times, "read"),
        Sample.Times.NONE,
        whole.cpuSecondsPerGb(),
        0,
        whole.operations(),
        0,
        "",
        List.of(gbps),
        "");
  }

  private static Sample.Times times(JsonObject times, String name) {
    if (!times.has(name + "_p50_nanos")) {
      return Sample.Times.NONE;
    }
    return new Sample.Times(
        micros(times, name + "_mean_nanos"),
        micros(times, name + "_p50_nanos"),
        micros(times, name + "_p99_nanos"),
        // Of so few the largest is that.
        micros(times, name + "_max_nanos"));
  }

  private static double micros(JsonObject times, String name) {
    return times.get(name).getAsLong() / 1e3;
  }

  /**
   * Has the Managers compile what one block needs: their first thousands of grants are several
   * times slower than later ones.
   *
   * @param operations how many are done
   * @param seconds how long at most
   * @return what one did not bring that it should have; empty if all did
   */
  public String warmUp(int operations, double seconds) {
    LoopTally unmeasured = new LoopTally();
    long start = System.nanoTime();
    for (int i = 0; i < operations && System.nanoTime() - start < seconds * 1e9; i++) {
      ask(1, unmeasured);
    }
    return unmeasured.failure;
  }

  private void repeat(int batch, double seconds, LoopTally tally) {
    long limit = (long) (seconds * 1e9);
    long start = System.nanoTime();
    do {
      ask(batch, tally);
    } while (System.nanoTime() - start < limit);
  }

  private void ask(int batch, LoopTally tally) {
    List<BlockName> wanted = new ArrayList<>(batch);
    int first = next;
    for (int i = 0; i < batch; i++) {
      wanted.add(names.get((first + i) % names.size()));
    }
    next = (first + batch) % names.size();
    long begun = System.nanoTime();
    try (BlockLease lease = asked.queryAndWait(wanted, QueryOptions.FETCH)) {
      long nanos = System.nanoTime() - begun;
      tally.record(nanos, 0, 0, 0);
      // Without the check below, which copies a block.
      tally.elapsedNanos += nanos;
      tally.bytes += batch * blockBytes;
      List<LeasedBlock> found = lease.blocks();
      if (found.size() != batch
          || found.stream().anyMatch(block -> block.origin() != Origin.PEER)
          || !isRight(lease, found.getLast(), first)) {
        tally.errors++;
        tally.failure = "of " + batch + " blocks came " + found.size() + ": " + found;
      }
    }
  }

  private boolean isRight(BlockLease lease, LeasedBlock block, int first) {
    long from = (long) ((first + block.index()) % names.size()) * blockBytes;
    lease.copyTo(block, copy);
    return Pattern.isBlock(copy, 0, from, blockBytes);
  }

  @Override
  public void close() {
    asked.close();
  }
}
