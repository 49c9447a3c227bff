package io.orbitkv.tck;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.SourceHold;
import java.net.URI;
import java.util.Optional;

/** An owner and a requester that reach each other, perhaps over a lever. Owned by a test. */
public final class EnginePair implements AutoCloseable {
  /** Batches that an engine of the kit has live or retained at most, unless a test says less. */
  public static final int BUDGET = 256;

  private final ProviderFixture fixture;
  private final KitEngine owner;
  private final KitEngine requester;
  private final Optional<FaultLever> lever;

  private EnginePair(ProviderFixture fixture, KitEngine owner, KitEngine requester) {
    this.fixture = fixture;
    this.owner = owner;
    this.requester = requester;
    this.lever = fixture.lever(owner.transport());
  }

  /**
   * Opens two engines.
   *
   * @param budget batches that the requester may have live or retained at once
   */
  public static EnginePair open(ProviderFixture fixture, int budget) {
    return new EnginePair(fixture, new KitEngine(fixture, BUDGET), new KitEngine(fixture, budget));
  }

  /** The engine that is read from. */
  public KitEngine owner() {
    return owner;
  }

  /** The engine that reads. */
  public KitEngine requester() {
    return requester;
  }

  /** The link between the two; there is one unless the fixture declined it. */
  public FaultLever lever() {
    return lever.orElseThrow(
        () ->
            new AssertionError(
                "the fixture has no lever; give it one, or decline STALL, CUT and SUCCESSOR"));
  }

  /** What the requester connects to. */
  public URI endpoint() {
    return lever.map(FaultLever::endpoint).orElseGet(owner.transport()::endpoint);
  }

  /** Connects the requester to the owner; closed with the requester. */
  public Peer connect() {
    return connect(requester);
  }

  /** Connects an engine to the owner; closed with that engine. */
  public Peer connect(KitEngine engine) {
    return engine.keep(
        engine
            .transport()
            .connect(endpoint(), owner.transport().epoch(), owner.transport().peerBytes()));
  }

  /** Admits a whole region of the owner for the requester. */
  public SourceHold admit(Region region) {
    return owner.admit(requester.transport().epoch(), region);
  }

  /** A further engine of the same provider, owned by the caller. */
  public KitEngine openEngine() {
    return new KitEngine(fixture, BUDGET);
  }

  /** A batch of one entry: the whole of range 0 into the start of a region. */
  public static Batch whole(RemoteRegion source, Region destination) {
    long bytes = source.length(0);
    return Batch.from(source)
        .add(Descriptor.of(destination.id(), 0, bytes), RemoteDescriptor.of(0, 0, bytes))
        .build();
  }

  @Override
  public void close() {
    lever.ifPresent(FaultLever::resume);
    try {
      requester.close();
      owner.close();
    } finally {
      lever.ifPresent(FaultLever::close);
    }
  }
}
