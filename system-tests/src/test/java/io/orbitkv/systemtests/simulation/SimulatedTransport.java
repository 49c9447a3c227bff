package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.ReceiptSubject;
import io.orbitkv.api.Region;
import io.orbitkv.api.Side;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.HoldKind;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A transport whose bytes move when the world lets them: as orbitte-tcp in copy mode, with every
 * movement cut into events. Honest, unless a mutant says otherwise.
 */
final class SimulatedTransport implements Transport {
  static final Map<Side, Set<Evidence>> EVIDENCE =
      Map.of(
          Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED),
          Side.SOURCE, Set.of(Evidence.LOCAL_QUIESCED));

  private final SimulatedManager manager;
  private final World world;
  private final Epoch epoch;
  private final Map<Epoch, SimulatedSource> sources = new LinkedHashMap<>();
  private final Map<Long, Piece> pieces = new HashMap<>();
  private final List<SimulatedPeer> peers = new ArrayList<>();
  private long lastRequestId;
  private int lastConnection;
  private boolean quiesced;

  SimulatedTransport(SimulatedManager manager, World world, Epoch epoch) {
    this.manager = manager;
    this.world = world;
    this.epoch = epoch;
  }

  SimulatedManager manager() {
    return manager;
  }

  MemorySegment memory() {
    return manager.memory();
  }

  boolean quiesced() {
    return quiesced;
  }

  DrainReceipt issue(ReceiptSubject subject, Evidence evidence) {
    return manager.issuer().issue(subject, evidence);
  }

  // The requester's half.

  long nextRequestId() {
    if (!world.is(Mutant.REQUEST_ID_USED_AGAIN)) {
      return ++lastRequestId;
    }
    long free = 1;
    while (pieces.containsKey(free)) {
      free++;
    }
    return free;
  }

  int nextConnection() {
    return ++lastConnection;
  }

  void remember(Piece piece) {
    pieces.put(piece.requestId(), piece);
    piece.connection().awaits(piece);
  }

  void forget(Piece piece) {
    pieces.remove(piece.requestId(), piece);
    piece.connection().ended(piece);
  }

  /** A frame did not arrive: the connection breaks, at once or only by somebody's impatience. */
  void lostOnTheWay(Connection connection) {
    if (world.chance().oneIn(2)) {
      connection.cut();
    }
  }

  /** A chunk came: the reading thread enters its destination, or reads it into scratch. */
  void receive(Chunk chunk) {
    ReadFrame frame = chunk.frame();
    if (frame.connection().requesterClosed()
        || !frame.requester().equals(epoch)
        || !chunk.ownerEpoch().equals(frame.ownerEpoch())) {
      if (!world.is(Mutant.OWNER_IGNORES_EPOCHS)) {
        return;
      }
    }
    Piece piece = pieces.get(frame.requestId());
    boolean fits = piece != null && piece.local().length() == frame.length();
    if (piece == null || !fits || !piece.ticket().enter(piece, chunk.number())) {
      return;
    }
    world.post(
        Pending.at(
            manager,
            "the reading thread leaves the destination of " + piece,
            () -> {
              long at = piece.local().offset() + Piece.from(chunk.number(), frame.length());
              MemorySegment.copy(
                  chunk.bytes(), 0, memory(), ValueLayout.JAVA_BYTE, at, chunk.bytes().length);
              piece.ticket().leave(piece, chunk.number());
            }));
  }

  private void refused(ReadFrame frame, FaultCode code) {
    Piece piece = frame.requester().equals(epoch) ? pieces.get(frame.requestId()) : null;
    if (piece != null && !frame.connection().requesterClosed()) {
      piece.ticket().failed(code, "the owner refused it");
    }
  }

  // The owner's half.

  /** A READ came. */
  void serve(ReadFrame frame) {
    if (frame.connection().ownerClosed()) {
      return;
    }
    FaultCode refusal = FaultCode.STALE_EPOCH;
    SimulatedSource source = find(frame);
    if (frame.ownerEpoch().equals(epoch) || world.is(Mutant.OWNER_IGNORES_EPOCHS)) {
      refusal = FaultCode.GRANT_ENDED;
      if (source != null) {
        Handler handler = new Handler(this, world, source, frame);
        refusal = source.enter(frame, handler);
        if (refusal == null) {
          world.oracle().entered(frame, source.grant());
          handler.goOn();
        }
      }
    }
    if (refusal != null) {
      FaultCode code = refusal;
      world.send(
          frame.connection().requester().manager().host(),
          code + " to " + frame,
          there -> there.transport().refused(frame, code),
          () -> lostOnTheWay(frame.connection()));
    }
  }

  private @Nullable SimulatedSource find(ReadFrame frame) {
    if (!world.is(Mutant.OWNER_IGNORES_EPOCHS)) {
      return sources.get(frame.token());
    }
    return sources.values().stream()
        .filter(source -> source.grant().id() == frame.grant().id())
        .findFirst()
        .or(() -> sources.values().stream().findFirst())
        .orElse(null);
  }

  void forget(SimulatedSource source) {
    if (!world.is(Mutant.REVOKED_TOKEN_STILL_ENTERS)) {
      sources.remove(source.token());
    }
  }

  void died() {
    peers.forEach(SimulatedPeer::requesterDied);
  }

  void hostDied(Host dead) {
    peers.forEach(peer -> peer.hostDied(dead));
  }

  /** Breaks one connection. */
  void cutOne() {
    if (!peers.isEmpty()) {
      world.chance().of(peers).cutOne();
    }
  }

  @Override
  public Epoch epoch() {
    return epoch;
  }

  @Override
  public URI endpoint() {
    return URI.create("simulated://" + manager.host().address());
  }

  @Override
  public byte[] peerBytes() {
    return new byte[0];
  }

  @Override
  public Capabilities capabilities() {
    return new Capabilities(Set.of(MemoryKind.Type.HOST), EVIDENCE, 1 << 20, 1 << 10, true, false);
  }

  @Override
  public Peer connect(URI endpoint, Epoch expected, byte[] peerBytes) {
    Host host =
        world.hosts().stream()
            .filter(one -> endpoint.toString().endsWith(one.address()))
            .findFirst()
            .orElseThrow();
    SimulatedPeer peer = new SimulatedPeer(this, world, host, expected);
    peers.add(peer);
    return peer;
  }

  @Override
  public SourceHold admit(Admission admission) {
    if (quiesced) {
      throw new TransportException(FaultCode.CLOSING, "no more admissions");
    }
    if (world.refuses()) {
      throw new TransportException(FaultCode.EXHAUSTED, "no room for a grant");
    }
    if (world.isDefective()) {
      world.oracle().excuse(admission.grant());
      throw new IllegalStateException("a planted defect of the provider");
    }
    List<Allocation> source =
        world.oracle().heldFor(manager, admission.grant(), HoldKind.SOURCE, admission.ranges());
    SimulatedSource hold = new SimulatedSource(this, world, admission, source);
    sources.put(hold.token(), hold);
    world.oracle().watch(hold);
    return hold;
  }

  @Override
  public Registration register(Region region) {
    throw new UnsupportedOperationException("all memory of a simulated Manager is registered");
  }

  @Override
  public void quiesce() {
    quiesced = true;
  }

  @Override
  public List<DrainReceipt> closeSource(long deadlineNanos) {
    List<SimulatedSource> all = List.copyOf(sources.values());
    all.forEach(SimulatedSource::revoke);
    return all.stream().map(SimulatedSource::receipt).flatMap(Optional::stream).toList();
  }

  @Override
  public void close() {
    peers.forEach(SimulatedPeer::close);
  }
}
