package io.orbitkv.systemtests.rig;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;

/**
 * One look at a Manager's state.
 *
 * @param json as the Manager gave it
 */
public record Status(JsonObject json) {
  /** What must be zero where nothing is under way. */
  private static final List<String> TRANSIENT =
      List.of(
          "quarantine.bytes",
          "quarantine.holds",
          "tickets.undrained",
          "grants.active",
          "grants.retired",
          "grants.quarantined",
          "budget.live_batches",
          "pool.holds",
          "leases.open",
          "receipts_refused");

  /** Reads a status. */
  public static Status parse(String text) {
    return new Status(JsonParser.parseString(text).getAsJsonObject());
  }

  /** The value at a dotted path; 0 if a counter there was never counted. */
  public long number(String path) {
    JsonElement at = json;
    for (String name : path.split("\\.", -1)) {
      JsonElement next = at.getAsJsonObject().get(name);
      if (next == null) {
        return 0;
      }
      at = next;
    }
    return at.getAsLong();
  }

  /** The text at a dotted path. */
  public String text(String path) {
    JsonElement at = json;
    for (String name : path.split("\\.", -1)) {
      at = at.getAsJsonObject().get(name);
    }
    return at.getAsString();
  }

  /** Everything that is held, in quarantine, undrained or refused; empty if nothing is. */
  public List<String> leftovers() {
    List<String> left = new ArrayList<>();
    for (String path : TRANSIENT) {
      if (number(path) != 0) {
        left.add(path + "=" + number(path));
      }
    }
    return left;
  }

  /** How many holds of a kind are listed. */
  public long holds(String kind) {
    return StreamSupport.stream(json.getAsJsonArray("holds").spliterator(), false)
        .filter(hold -> hold.getAsJsonObject().get("kind").getAsString().equals(kind))
        .count();
  }

  /** Whether a peer of that Manager epoch is up. */
  public boolean hasPeer(String managerEpoch) {
    return StreamSupport.stream(json.getAsJsonArray("peers").spliterator(), false)
        .anyMatch(
            peer -> peer.getAsJsonObject().get("manager_epoch").getAsString().equals(managerEpoch));
  }
}
