package io.orbitkv.bench;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Does one operation after the other for one thread. What exceeds one READ is split, with two READs
 * under way as in the Manager, and still counts as one operation.
 */
final class Operation implements Work {
  private static final int READS_UNDER_WAY = 2;

  private final BenchEngine engine;
  private final Peer peer;
  private final RemoteRegion source;
  private final LoopShape shape;
  private final SlotWalk walk;
  private final long maxReadBytes;
  private final int maxDescriptors;
  private final Deque<Ticket> underWay = new ArrayDeque<>(READS_UNDER_WAY);

  /** The block that comes next, and where in it. */
  private int block;

  private long offset;

  Operation(
      BenchEngine engine, Peer peer, RemoteRegion source, LoopShape shape, int thread, long limit) {
    this.engine = engine;
    this.peer = peer;
    this.source = source;
    this.shape = shape;
    walk = new SlotWalk(shape, engine.pool().bytes(), source.length(0), thread);
    maxReadBytes = Math.min(limit, engine.transport().capabilities().maxReadBytes());
    maxDescriptors = engine.transport().capabilities().maxDescriptors();
  }

  @Override
  public int batch() {
    return walk.batch();
  }

  @Override
  public void run(LoopTally tally) throws InterruptedException {
    long begun = System.nanoTime();
    long prepare = 0;
    long post = 0;
    long receipt = 0;
    walk.next();
    block = 0;
    offset = 0;
    boolean failed = false;
    while (block < walk.batch() || !underWay.isEmpty()) {
      while (block < walk.batch() && underWay.size() < READS_UNDER_WAY) {
        long start = System.nanoTime();
        Batch batch = shape.strided() ? strided() : scattered();
        long made = System.nanoTime();
        underWay.add(engine.read(peer, batch));
        prepare += made - start;
        post += System.nanoTime() - made;
      }
      Ticket ticket = underWay.remove();
      Outcome outcome = BenchEngine.await(ticket);
      long known = System.nanoTime();
      engine.spend(ticket);
      receipt += System.nanoTime() - known;
      if (!outcome.completed()) {
        failed = true;
        tally.failure = outcome.toString();
      }
    }
    tally.record(System.nanoTime() - begun, prepare, post, receipt);
    tally.bytes += walk.batch() * shape.blockBytes();
    if (failed || !walk.isSampleRight(engine.pool().segment())) {
      tally.errors++;
    }
  }

  private Batch scattered() {
    RegionId region = engine.region();
    Batch.Builder batch = Batch.from(source);
    long room = maxReadBytes;
    for (int pieces = 0; block < walk.batch() && pieces < maxDescriptors && room > 0; pieces++) {
      long left = shape.blockBytes() - offset;
      if (left > room && pieces > 0 && offset == 0) {
        break;
      }
      long length = Math.min(left, room);
      batch.add(
          Descriptor.of(region, walk.to(block) + offset, length),
          RemoteDescriptor.of(0, walk.from(block) + offset, length));
      room -= length;
      offset += length;
      if (offset == shape.blockBytes()) {
        offset = 0;
        block++;
      }
    }
    return batch.build();
  }

  private Batch strided() {
    long most = Math.clamp(maxReadBytes / shape.blockBytes(), 1, maxDescriptors);
    int count = (int) Math.min(most, walk.batch() - block);
    long length = shape.blockBytes();
    long stride = shape.strideBytes();
    Batch batch =
        Batch.from(source)
            .add(
                new Descriptor(engine.region(), walk.to(block), length, stride, count),
                new RemoteDescriptor(0, walk.from(block), length, stride, count))
            .build();
    block += count;
    return batch;
  }

  @Override
  public boolean isAllRight() {
    return walk.isAllRight(engine.pool().segment());
  }
}
