package io.orbitkv.cli.replay;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a Manager's status says about evidence. Immutable; a field that a Manager does not have
 * counts as zero.
 *
 * @param receipts drain receipts of both sides by the name of their evidence
 * @param destinationReceipts those of them of the requester's side
 * @param undrained tickets and grants whose receipt has not come (yet)
 * @param quarantined those of them, or holds, that are quarantined
 * @param quarantinedBytes memory held for them, bytes
 */
public record ManagerCounters(
    Map<String, Long> receipts,
    long destinationReceipts,
    long undrained,
    long quarantined,
    long quarantinedBytes) {
  /** Of a Manager that did nothing yet. */
  static final ManagerCounters NONE = new ManagerCounters(Map.of(), 0, 0, 0, 0);

  /** Copies the map and sorts it. */
  public ManagerCounters {
    receipts = Collections.unmodifiableSortedMap(new TreeMap<>(receipts));
  }

  /**
   * Reads them from a status.
   *
   * @throws JsonParseException if it is not a JSON object
   */
  static ManagerCounters ofStatus(String status) {
    if (!(JsonParser.parseString(status) instanceof JsonObject json)) {
      throw new JsonParseException("the Manager's status is not a JSON object");
    }
    SortedMap<String, Long> receipts = new TreeMap<>();
    if (json.get("receipts") instanceof JsonObject byEvidence) {
      byEvidence.asMap().forEach((evidence, count) -> receipts.put(evidence, number(count)));
    }
    return new ManagerCounters(
        receipts,
        allOf(json, "receipts_destination"),
        sum(json, "tickets", "undrained") + sum(json, "grants", "active", "retired", "quarantined"),
        // A quarantined ticket keeps at least one hold: the larger figure covers both.
        Math.max(sum(json, "quarantine", "tickets"), sum(json, "quarantine", "holds")),
        sum(json, "quarantine", "bytes"));
  }

  /** The sum of two Managers. */
  ManagerCounters plus(ManagerCounters other) {
    SortedMap<String, Long> sum = new TreeMap<>(receipts);
    other.receipts.forEach((evidence, count) -> sum.merge(evidence, count, Long::sum));
    return new ManagerCounters(
        sum,
        destinationReceipts + other.destinationReceipts,
        undrained + other.undrained,
        quarantined + other.quarantined,
        quarantinedBytes + other.quarantinedBytes);
  }

  /**
   * What came since an earlier look at the same Manager; evidence without a new receipt is left
   * out.
   */
  ManagerCounters since(ManagerCounters earlier) {
    SortedMap<String, Long> rest = new TreeMap<>(receipts);
    earlier.receipts.forEach((evidence, count) -> rest.merge(evidence, -count, Long::sum));
    rest.values().removeIf(count -> count == 0);
    return new ManagerCounters(
        rest,
        destinationReceipts - earlier.destinationReceipts,
        undrained - earlier.undrained,
        quarantined - earlier.quarantined,
        quarantinedBytes - earlier.quarantinedBytes);
  }

  /** All receipts, of whatever evidence. */
  long allReceipts() {
    return receipts.values().stream().mapToLong(Long::longValue).sum();
  }

  private static long allOf(JsonObject json, String object) {
    return json.get(object) instanceof JsonObject group
        ? group.asMap().values().stream().mapToLong(ManagerCounters::number).sum()
        : 0;
  }

  private static long sum(JsonObject json, String object, String... members) {
    long sum = 0;
    if (json.get(object) instanceof JsonObject group) {
      for (String member : members) {
        sum += number(group.get(member));
      }
    }
    return sum;
  }

  private static long number(@Nullable JsonElement value) {
    return value != null && value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber()
        ? value.getAsLong()
        : 0;
  }
}
