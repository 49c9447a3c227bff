package io.orbitkv.manager.control;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** An owner that has every block, 4,096 bytes each, but those whose hash begins with 0. */
final class ScriptedManager implements ControlService {
  final Epoch epoch = Epoch.random();
  final BlockingQueue<GrantRequest> requests = new LinkedBlockingQueue<>();
  final BlockingQueue<Completion> completions = new LinkedBlockingQueue<>();
  final BlockingQueue<PeerHello> accepted = new LinkedBlockingQueue<>();
  final BlockingQueue<PeerHello> lost = new LinkedBlockingQueue<>();
  final AtomicInteger refusals = new AtomicInteger();
  private final Map<TicketId, GrantOffer> granted = new ConcurrentHashMap<>();
  private final String backend;
  private final String name;
  volatile PeerHello self;
  volatile CountDownLatch gate = new CountDownLatch(0);
  volatile byte[] wireForm = {1, 2, 3};

  ScriptedManager(String name) {
    this(name, "orbitte-tcp");
  }

  ScriptedManager(String name, String backend) {
    this.name = name;
    this.backend = backend;
    this.self = withNewTransport();
  }

  /** What it says once its transport was replaced. */
  PeerHello withNewTransport() {
    return new PeerHello(
        epoch,
        name,
        "127.0.0.1:1",
        backend,
        Epoch.random(),
        URI.create("orbitte+tcp://127.0.0.1:7500"),
        new byte[] {9, 8, 7});
  }

  @Override
  public PeerHello hello() {
    return self;
  }

  @Override
  public void accept(PeerHello peer) {
    if (!peer.provider().equals(backend)) {
      refusals.incrementAndGet();
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "Manager %s uses %s, Manager %s uses %s: start both with one backend"
              .formatted(name, backend, peer.managerName(), peer.provider()));
    }
    accepted.add(peer);
  }

  @Override
  public long[] locate(PeerHello peer, List<BlockName> names) {
    return names.stream().mapToLong(block -> block.hash()[0] == 0 ? -1 : 4_096).toArray();
  }

  @Override
  public GrantOffer authorize(PeerHello peer, GrantRequest request) {
    requests.add(request);
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!request.ownerTransport().equals(self.transportEpoch())) {
      throw new TransportException(
          FaultCode.STALE_EPOCH, "transport " + request.ownerTransport() + " was replaced");
    }
    return granted.computeIfAbsent(request.ticket(), ticket -> grant(request));
  }

  private GrantOffer grant(GrantRequest request) {
    List<GrantOffer.GrantedRange> ranges = new ArrayList<>();
    for (int i = 0; i < request.names().size(); i++) {
      if (request.names().get(i).hash()[0] != 0) {
        ranges.add(new GrantOffer.GrantedRange(i, 4_096));
      }
    }
    long id = granted.size() + 1L;
    return new GrantOffer(
        new GrantId(id, id, self.transportEpoch()), ranges, 60_000_000_000L, wireForm);
  }

  @Override
  public void complete(PeerHello peer, Completion completion) {
    completions.add(completion);
  }

  @Override
  public void peerLost(PeerHello peer) {
    lost.add(peer);
  }
}
