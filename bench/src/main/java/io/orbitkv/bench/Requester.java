package io.orbitkv.bench;

import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.TransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The measuring end: an engine of the provider in this process, connected to the owner's, with one
 * grant over the owner's whole pool. Used by one thread.
 */
public final class Requester implements Contender, AutoCloseable {
  /** Payload of one READ at most, as the Manager's default. */
  private static final long MAX_READ_BYTES = 64L << 20;

  private final String name;
  private final OwnerLink owner;
  private final BenchEngine engine;
  private final Peer peer;
  private final RemoteRegion source;
  private final long grantNanos;

  private Requester(
      String name,
      OwnerLink owner,
      BenchEngine engine,
      Peer peer,
      RemoteRegion source,
      long grantNanos) {
    this.name = name;
    this.owner = owner;
    this.engine = engine;
    this.peer = peer;
    this.source = source;
    this.grantNanos = grantNanos;
  }

  /**
   * Opens the provider here, takes the grant and connects.
   *
   * @param owner an open link to the owner, which stays the caller's
   * @param poolBytes of the requester's pool
   * @throws TransportException if the provider can not be opened, or the owner refuses
   */
  public static Requester open(
      TransportProvider provider, Map<String, String> options, OwnerLink owner, long poolBytes) {
    BenchEngine engine =
        BenchEngine.open(provider, options, owner.localHost().getHostAddress(), poolBytes);
    try {
      Peer peer = engine.transport().connect(owner.endpoint(), owner.epoch(), owner.peerBytes());
      long begun = System.nanoTime();
      RemoteRegion source = peer.importRegion(owner.grant(engine.transport().epoch()));
      long grantNanos = System.nanoTime() - begun;
      return new Requester(provider.name(), owner, engine, peer, source, grantNanos);
    } catch (RuntimeException e) {
      engine.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Sample measure(LoopShape shape, double warmUpSeconds, double seconds)
      throws InterruptedException {
    List<Work> works = new ArrayList<>();
    for (int i = 0; i < shape.threads(); i++) {
      works.add(work(shape, i));
    }
    return new LoopGroup(works, warmUpSeconds, seconds).run(name, owner);
  }

  /**
   * The same, in a share of the pool and with one thread only, so that several can be measured at
   * once.
   *
   * @param part which share, from 0
   * @param parts how many there are
   */
  public Contender part(int part, int parts) {
    return new Contender() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public Sample measure(LoopShape shape, double warmUpSeconds, double seconds)
          throws InterruptedException {
        LoopShape share =
            new LoopShape(shape.blockBytes(), shape.batch(), shape.strideBytes(), parts);
        return new LoopGroup(List.of(work(share, part)), warmUpSeconds, seconds).run(name, owner);
      }
    };
  }

  /**
   * How long the grant took that all operations use, nanoseconds: asked for over the control
   * connection, admitted, imported. Cold; what one costs when warm is a matter of the whole path.
   */
  public long grantNanos() {
    return grantNanos;
  }

  /** How long the pool's registration took, nanoseconds. */
  public long registrationNanos() {
    return engine.registrationNanos();
  }

  /** A plain Java socket loop over the same two pools. */
  public JavaLoop javaLoop() {
    return new JavaLoop(owner, engine.pool().segment(), source.length(0));
  }

  /**
   * The processor time that both ends use while nothing is asked for.
   *
   * @param seconds for how long that is looked at
   */
  public IdleCpu idle(double seconds) throws InterruptedException {
    return IdleCpu.measure(ProcessCpu::ownNanos, owner::cpuNanos, seconds);
  }

  /** The congestion control of the connections to the owner; empty if it can not be told. */
  public String congestion() {
    return CongestionInForce.to(owner.endpoint().getPort());
  }

  /** The operations of one thread. */
  Work work(LoopShape shape, int thread) {
    return new Operation(engine, peer, source, shape, thread, MAX_READ_BYTES);
  }

  /** Ends the connections, then the engine. */
  @Override
  public void close() {
    peer.close();
    engine.close();
  }
}
