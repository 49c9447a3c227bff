package io.orbitkv.cli.replay;

import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.cli.output.Progress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Replays a trace: requests in their order, round robin over the Managers. A Manager that is lost
 * is skipped until something answers on its socket again; when none is left the replay ends early.
 * Used once, by one thread; {@link #close} ends its sessions.
 */
public final class Replay implements AutoCloseable {
  private static final long RECEIPT_WAIT_NANOS = TimeUnit.SECONDS.toNanos(15);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final List<TraceRequest> requests;
  private final List<ManagerLink> links;
  private final ReplayOptions options;
  private final Progress progress;
  private final ReplayTally tally;
  private final AtomicInteger next = new AtomicInteger();
  private volatile @Nullable String stopped;

  private Replay(
      List<TraceRequest> requests,
      List<ManagerLink> links,
      ReplayOptions options,
      Progress progress) {
    this.requests = requests;
    this.links = links;
    this.options = options;
    this.progress = progress;
    this.tally = new ReplayTally(requests.size());
  }

  /**
   * Connects to all Managers.
   *
   * @param sockets at least one
   * @param progress is told of each request that is over; stays the caller's
   * @throws TransportException if one of them can't be reached
   */
  public static Replay connect(
      List<TraceRequest> requests, List<Path> sockets, ReplayOptions options, Progress progress) {
    List<ManagerLink> links = sockets.stream().map(ManagerLink::new).toList();
    Replay replay = new Replay(requests, links, options, progress);
    try {
      links.forEach(ManagerLink::client);
      return replay;
    } catch (RuntimeException e) {
      replay.close();
      throw e;
    }
  }

  /** Why the replay ended early; null if it did not. */
  public @Nullable String stopped() {
    return stopped;
  }

  /** Carries out the requests and waits for them, and for the receipts of what they moved. */
  public ReplayReport run() throws InterruptedException {
    long begun = System.nanoTime();
    if (options.concurrency() == 1) {
      lane(begun);
    } else {
      lanes(begun);
    }
    long elapsed = System.nanoTime() - begun;
    ManagerCounters counted = awaitReceipts();
    IdealCache ideal = new IdealCache();
    long idealHits = 0;
    for (int i = 0; i < requests.size(); i++) {
      idealHits += tally.began(i) ? ideal.hits(requests.get(i)) : 0;
    }
    return tally.report(idealHits, elapsed, counted, missing(counted), seesAllOwners());
  }

  private void lanes(long begun) throws InterruptedException {
    ExecutorService threads =
        Executors.newFixedThreadPool(
            options.concurrency(), Thread.ofPlatform().name("orbitkv-replay-", 0).factory());
    try {
      List<Future<?>> lanes = new ArrayList<>();
      for (int i = 0; i < options.concurrency(); i++) {
        lanes.add(
            threads.submit(
                () -> {
                  lane(begun);
                  return null;
                }));
      }
      for (Future<?> lane : lanes) {
        lane.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("a replay thread failed: " + e.getCause(), e);
    } finally {
      threads.shutdownNow();
      threads.awaitTermination(1, TimeUnit.MINUTES);
    }
  }

  private void lane(long begun) throws InterruptedException {
    try (RequestRun run = new RequestRun(options, tally)) {
      while (stopped == null) {
        int index = next.getAndIncrement();
        if (index >= requests.size()) {
          return;
        }
        TraceRequest request = requests.get(index);
        waitUntil(begun + (long) (request.timestampMillis() * 1e6 / options.speed()));
        one(index, request, run);
        progress.step(1);
      }
    }
  }

  private void one(int index, TraceRequest request, RequestRun run) throws InterruptedException {
    String reason = "";
    for (int i = 0; i < links.size(); i++) {
      ManagerLink link = links.get((index + i) % links.size());
      ManagerClient client;
      try {
        client = link.client();
      } catch (TransportException e) {
        reason = String.valueOf(e.getMessage());
        continue;
      }
      tally.began(index, request);
      if (i > 0) {
        tally.rerouted();
      }
      run.run(request, link, client);
      return;
    }
    stopped = "no Manager is left to replay against: " + reason;
  }

  private static void waitUntil(long nanoTime) throws InterruptedException {
    for (long rest = nanoTime - System.nanoTime(); rest > 0; rest = nanoTime - System.nanoTime()) {
      LockSupport.parkNanos(rest);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  // A receipt may come a moment after the answer that it stands behind; waiting proves nothing.
  private ManagerCounters awaitReceipts() throws InterruptedException {
    long end = System.nanoTime() + RECEIPT_WAIT_NANOS;
    ManagerCounters counted = counted();
    while (missing(counted) > 0 && System.nanoTime() < end && stopped == null) {
      waitUntil(System.nanoTime() + POLL_NANOS);
      counted = counted();
    }
    return counted;
  }

  private ManagerCounters counted() {
    ManagerCounters sum = ManagerCounters.NONE;
    for (ManagerLink link : links) {
      try {
        sum = sum.plus(link.counted());
      } catch (TransportException e) {
        if (e.code() != FaultCode.PEER_LOST) {
          throw e;
        }
      }
    }
    return sum;
  }

  /**
   * Receipts that are known to be owed: for each ticket and grant that is not drained; and, as long
   * as no Manager was lost with its counters, at least one of the requester for each request that
   * was read from a peer, and one of the owner if it can only be a Manager that is asked here.
   * Requests under way at once may share a ticket, so that only the first says something then.
   */
  private long missing(ManagerCounters counted) {
    boolean countable = options.concurrency() == 1 && steady();
    long owed = 0;
    if (countable) {
      owed = tally.peerRequests() - counted.destinationReceipts();
      if (seesAllOwners()) {
        owed = Math.max(owed, 2 * tally.peerRequests() - counted.allReceipts());
      }
    }
    return Math.max(Math.max(0, owed), Math.max(counted.undrained(), counted.quarantined()));
  }

  // An owner that is not asked here keeps its receipts where nobody here can count them.
  private boolean seesAllOwners() {
    Set<String> asked = links.stream().map(ManagerLink::epoch).collect(Collectors.toSet());
    return links.stream().allMatch(link -> asked.containsAll(link.peers()));
  }

  /** Whether every Manager is still there, and is the incarnation that it was at the start. */
  public boolean steady() {
    return links.stream().allMatch(ManagerLink::steady);
  }

  /** Ends the sessions. */
  @Override
  public void close() {
    links.forEach(ManagerLink::close);
  }
}
