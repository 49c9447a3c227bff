package io.orbitkv.cli.replay;

import io.orbitkv.adapter.Origin;
import io.orbitkv.api.FaultCode;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/** Counts what the requests of a replay met. Thread-safe. */
final class ReplayTally {
  // One line per reason is for people; a flood of different ones is not.
  private static final int MAX_REASONS = 16;
  private static final long MAX_LATENCY_NANOS = 3_600_000_000_000L;

  private final Histogram hitLatency = new Histogram(MAX_LATENCY_NANOS, 3);
  private final Histogram allLatency = new Histogram(MAX_LATENCY_NANOS, 3);
  private final Map<String, Long> failures = new TreeMap<>();
  private final boolean[] started;

  private long requests;
  private long blocks;
  private long peerRequests;
  private long rerouted;
  private long failed;
  private long deadlines;
  private long verifiedBytes;
  private long mismatchedBytes;
  private long readNanos;
  private long publishNanos;
  private Traffic local = Traffic.NONE;
  private Traffic peer = Traffic.NONE;
  private Traffic published = Traffic.NONE;
  private Traffic present = Traffic.NONE;

  ReplayTally(int traceLength) {
    started = new boolean[traceLength];
  }

  /** A request of the trace begins. */
  synchronized void began(int index, TraceRequest request) {
    started[index] = true;
    requests++;
    blocks += request.hashes().size();
  }

  /** A request goes to another Manager than its turn's, which is not there. */
  synchronized void rerouted() {
    rerouted++;
  }

  /** One hit was copied out and compared. */
  synchronized void hit(Origin origin, long bytes, long mismatched) {
    if (origin == Origin.PEER) {
      peer = peer.plus(1, bytes);
    } else {
      local = local.plus(1, bytes);
    }
    verifiedBytes += bytes;
    mismatchedBytes += mismatched;
  }

  /** The reading part of a request is over. */
  synchronized void read(long nanos, int hits, boolean fromPeer) {
    long clipped = Math.min(nanos, MAX_LATENCY_NANOS);
    allLatency.recordValue(clipped);
    if (hits > 0) {
      hitLatency.recordValue(clipped);
      readNanos += nanos;
    }
    if (fromPeer) {
      peerRequests++;
    }
  }

  synchronized void published(long bytes) {
    published = published.plus(1, bytes);
  }

  synchronized void present(long bytes) {
    present = present.plus(1, bytes);
  }

  synchronized void publishTook(long nanos) {
    publishNanos += nanos;
  }

  /** An operation, or one block of it, failed. */
  synchronized void failed(FaultCode code, String reason) {
    failed++;
    if (code == FaultCode.DEADLINE) {
      deadlines++;
    }
    String line = code + ": " + reason.replaceAll("\\s+", " ");
    String known = failures.containsKey(line) || failures.size() < MAX_REASONS ? line : "others";
    failures.merge(known, 1L, Long::sum);
  }

  /** Requests that read from a peer, so that there must be receipts for them. */
  synchronized long peerRequests() {
    return peerRequests;
  }

  /** Whether a request of the trace was begun. */
  synchronized boolean began(int index) {
    return started[index];
  }

  synchronized ReplayReport report(
      long idealHits,
      long elapsedNanos,
      ManagerCounters counters,
      long missingReceipts,
      boolean sourceReceiptsVisible) {
    return new ReplayReport(
        requests,
        blocks,
        idealHits,
        local,
        peer,
        published,
        present,
        verifiedBytes,
        mismatchedBytes,
        rerouted,
        failed,
        deadlines,
        Map.copyOf(failures),
        readNanos,
        publishNanos,
        elapsedNanos,
        Latency.of(hitLatency),
        Latency.of(allLatency),
        counters,
        missingReceipts,
        sourceReceiptsVisible);
  }
}
