package io.orbitkv.cli.replay;

import com.google.gson.JsonObject;
import io.orbitkv.cli.output.TextTable;
import io.orbitkv.cli.output.Units;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a replay found. Immutable.
 *
 * @param requests requests begun
 * @param blocks blocks they asked for; a name that a request repeats counts once
 * @param idealHits hits of a cache that never forgets, on the same requests
 * @param local hits that were in the memory of the Manager asked
 * @param peer hits that it fetched from another Manager
 * @param published blocks stored
 * @param present blocks published whose name was there already
 * @param verifiedBytes bytes copied out and compared with what was published under their name
 * @param mismatchedBytes those of them that were wrong
 * @param rerouted requests that went to another Manager because theirs was not there
 * @param failed operations (or single blocks of a publish) that failed
 * @param deadlines those of them that were not over by their deadline
 * @param failures reasons, with how often each came
 * @param readNanos time in queries and copies of requests with a hit, summed over the requests
 * @param publishNanos time in publishes, summed
 * @param elapsedNanos of the whole replay, with making and comparing the bytes
 * @param hitLatency per request with a hit: from the query to its last byte copied out
 * @param allLatency the same of all requests
 * @param counters what the Managers counted meanwhile
 * @param missingReceipts tickets and source holds without a drain receipt at the end
 * @param sourceReceiptsVisible whether every possible owner was asked for its receipts; if not,
 *     only those of the requester's side are counted as missing
 */
public record ReplayReport(
    long requests,
    long blocks,
    long idealHits,
    Traffic local,
    Traffic peer,
    Traffic published,
    Traffic present,
    long verifiedBytes,
    long mismatchedBytes,
    long rerouted,
    long failed,
    long deadlines,
    Map<String, Long> failures,
    long readNanos,
    long publishNanos,
    long elapsedNanos,
    Latency hitLatency,
    Latency allLatency,
    ManagerCounters counters,
    long missingReceipts,
    boolean sourceReceiptsVisible) {

  /** Hits of either origin. */
  public long hits() {
    return local.blocks() + peer.blocks();
  }

  /** Whether every byte was right and every receipt came. */
  public boolean proven() {
    return mismatchedBytes == 0 && missingReceipts == 0;
  }

  /** As one JSON object; bytes, milliseconds, and GB/s of 1e9 bytes. */
  public JsonObject toJson() {
    JsonObject json = new JsonObject();
    json.addProperty("requests", requests);
    json.addProperty("blocks", blocks);
    json.addProperty("hits", hits());
    json.addProperty("misses", blocks - hits());
    json.addProperty("hit_ratio", share(hits()));
    json.addProperty("ideal_hit_ratio", share(idealHits));
    add(json, "published", published);
    add(json, "present", present);
    add(json, "local", local);
    add(json, "peer", peer);
    json.addProperty("verified_bytes", verifiedBytes);
    json.addProperty("mismatched_bytes", mismatchedBytes);
    json.addProperty("rerouted_requests", rerouted);
    json.addProperty("failed_operations", failed);
    json.addProperty("deadline_operations", deadlines);
    json.add("failures", counts(failures));
    json.addProperty("seconds", elapsedNanos / 1e9);
    json.addProperty("gbps", rate(local.bytes() + peer.bytes(), readNanos));
    json.addProperty("publish_gbps", rate(published.bytes() + present.bytes(), publishNanos));
    json.add("latency_ms", hitLatency.toJson());
    json.add("latency_all_ms", allLatency.toJson());
    json.add("receipts", counts(counters.receipts()));
    json.addProperty("missing_receipts", missingReceipts);
    json.addProperty("source_receipts_visible", sourceReceiptsVisible);
    json.addProperty("quarantined_bytes", counters.quarantinedBytes());
    return json;
  }

  /** As a table for people. */
  public String toTable() {
    TextTable table =
        new TextTable()
            .row("requests", Units.count(requests))
            .row("blocks", Units.count(blocks))
            .row("hits", Units.count(hits()) + " (" + Units.percent(share(hits())) + ")")
            .row("  ideal", Units.percent(share(idealHits)) + " with a cache that never forgets")
            .row("  local", traffic(local))
            .row("  from peers", traffic(peer))
            .row("misses", Units.count(blocks - hits()))
            .row("published", traffic(published))
            .row("  present already", traffic(present))
            .row("verified", Units.bytes(verifiedBytes) + ", " + wrong())
            .row("read rate", Units.rate(rate(local.bytes() + peer.bytes(), readNanos)))
            .row(
                "publish rate", Units.rate(rate(published.bytes() + present.bytes(), publishNanos)))
            .row("latency, hits", hitLatency.text())
            .row("latency, all", allLatency.text());
    if (rerouted > 0) {
      table.row("rerouted requests", Units.count(rerouted));
    }
    table.row("failed operations", Units.count(failed) + " (" + deadlines + " by deadline)");
    new TreeMap<>(failures)
        .forEach((reason, count) -> table.row("  " + Units.count(count) + " x", reason));
    table.row("drain receipts", Units.count(counters.allReceipts()));
    counters
        .receipts()
        .forEach((evidence, count) -> table.row("  " + evidence, Units.count(count)));
    return table
        .row(
            "missing receipts",
            Units.count(missingReceipts)
                + (sourceReceiptsVisible
                    ? ""
                    : " (the owners' not counted: not all their Managers are in --managers)"))
        .row("quarantined", Units.bytes(counters.quarantinedBytes()))
        .row("time", Units.nanos(elapsedNanos))
        .render();
  }

  private String wrong() {
    return mismatchedBytes == 0
        ? "every byte right"
        : Units.count(mismatchedBytes) + " bytes WRONG";
  }

  private double share(long part) {
    return blocks == 0 ? 0 : (double) part / blocks;
  }

  private static double rate(long bytes, long nanos) {
    return nanos == 0 ? 0 : (double) bytes / nanos;
  }

  private static String traffic(Traffic traffic) {
    return Units.count(traffic.blocks()) + " blocks, " + Units.bytes(traffic.bytes());
  }

  private static void add(JsonObject json, String name, Traffic traffic) {
    json.addProperty(name + "_blocks", traffic.blocks());
    json.addProperty(name + "_bytes", traffic.bytes());
  }

  private static JsonObject counts(Map<String, Long> counts) {
    JsonObject json = new JsonObject();
    new TreeMap<>(counts).forEach(json::addProperty);
    return json;
  }
}
