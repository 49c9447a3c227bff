package io.orbitkv.bench;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * The baseline where there is no C compiler: plain blocking socket channels that read from and into
 * the same pools, without grants, tickets and receipts.
 */
public final class JavaLoop implements Contender {
  static final int HEAD_BYTES = 16;

  private final OwnerLink owner;
  private final MemorySegment pool;
  private final long sourceBytes;
  private final InetSocketAddress at;

  JavaLoop(OwnerLink owner, MemorySegment pool, long sourceBytes) {
    this.owner = owner;
    this.pool = pool;
    this.sourceBytes = sourceBytes;
    at = new InetSocketAddress(owner.address().getAddress(), owner.startJavaLoop());
  }

  @Override
  public String name() {
    return "Java " + Machine.congestion();
  }

  @Override
  public Sample measure(LoopShape shape, double warmUpSeconds, double seconds)
      throws InterruptedException {
    List<Connection> connections = new ArrayList<>();
    try {
      for (int i = 0; i < shape.threads(); i++) {
        SlotWalk walk = new SlotWalk(shape, pool.byteSize(), sourceBytes, i);
        connections.add(new Connection(SocketChannel.open(at), walk, shape.blockBytes()));
      }
      return new LoopGroup(connections, warmUpSeconds, seconds).run(name(), owner);
    } catch (IOException e) {
      throw lost(e);
    } finally {
      connections.forEach(Connection::close);
    }
  }

  private static TransportException lost(IOException cause) {
    return new TransportException(
        FaultCode.PEER_LOST, "baseline: " + cause.getMessage() + "; look at the owner", cause);
  }

  /** Writes all of some buffers. */
  static void writeFully(SocketChannel connection, ByteBuffer[] buffers) throws IOException {
    for (int first = 0; first < buffers.length; ) {
      var _ = connection.write(buffers, first, buffers.length - first);
      first = skipFull(buffers, first);
    }
  }

  private static void readFully(SocketChannel connection, ByteBuffer[] buffers) throws IOException {
    for (int first = 0; first < buffers.length; ) {
      if (connection.read(buffers, first, buffers.length - first) < 0) {
        throw new EOFException("the owner has closed the connection");
      }
      first = skipFull(buffers, first);
    }
  }

  private static int skipFull(ByteBuffer[] buffers, int first) {
    int next = first;
    while (next < buffers.length && !buffers[next].hasRemaining()) {
      next++;
    }
    return next;
  }

  /** A list of ranges on its way: their number, then offset and length of each. */
  static final class Request {
    private final ByteBuffer buffer =
        ByteBuffer.allocateDirect(Long.BYTES * (1 + 2 * LoopShape.MAX_BATCH));

    void begin(int ranges) {
      buffer.clear().putLong(ranges);
    }

    void add(long offset, long length) {
      buffer.putLong(offset).putLong(length);
    }

    void write(SocketChannel connection) throws IOException {
      writeFully(connection, new ByteBuffer[] {buffer.flip()});
    }

    /** Waits for one; false at the end of the stream. */
    boolean read(SocketChannel connection) throws IOException {
      buffer.clear().limit(Long.BYTES);
      while (buffer.hasRemaining()) {
        if (connection.read(buffer) < 0) {
          return false;
        }
      }
      long ranges = buffer.getLong(0);
      if (ranges < 1 || ranges > LoopShape.MAX_BATCH) {
        return false;
      }
      buffer.limit((int) (Long.BYTES * (1 + 2 * ranges)));
      readFully(connection, new ByteBuffer[] {buffer});
      return true;
    }

    /** The ranges of a pool, behind a head. */
    ByteBuffer[] slices(MemorySegment pool, ByteBuffer head) {
      int ranges = (int) buffer.getLong(0);
      ByteBuffer[] slices = new ByteBuffer[ranges + 1];
      slices[0] = head;
      for (int i = 0; i < ranges; i++) {
        int at = Long.BYTES * (1 + 2 * i);
        slices[i + 1] =
            pool.asSlice(buffer.getLong(at), buffer.getLong(at + Long.BYTES)).asByteBuffer();
      }
      return slices;
    }
  }

  private final class Connection implements Work, AutoCloseable {
    private final SocketChannel channel;
    private final SlotWalk walk;
    private final long blockBytes;
    private final Request request = new Request();
    private final ByteBuffer head = ByteBuffer.allocateDirect(HEAD_BYTES);

    Connection(SocketChannel channel, SlotWalk walk, long blockBytes) throws IOException {
      this.channel = channel;
      this.walk = walk;
      this.blockBytes = blockBytes;
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    @Override
    public int batch() {
      return walk.batch();
    }

    @Override
    public void run(LoopTally tally) {
      long begun = System.nanoTime();
      walk.next();
      ByteBuffer[] destination = new ByteBuffer[walk.batch() + 1];
      destination[0] = head.clear();
      request.begin(walk.batch());
      for (int i = 0; i < walk.batch(); i++) {
        request.add(walk.from(i), blockBytes);
        destination[i + 1] = pool.asSlice(walk.to(i), blockBytes).asByteBuffer();
      }
      try {
        request.write(channel);
        readFully(channel, destination);
      } catch (IOException e) {
        throw lost(e);
      }
      tally.record(System.nanoTime() - begun, 0, 0, 0);
      tally.bytes += walk.batch() * blockBytes;
      if (!walk.isSampleRight(pool)) {
        tally.errors++;
      }
    }

    @Override
    public boolean isAllRight() {
      return walk.isAllRight(pool);
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        // The server sees it.
      }
    }
  }
}
