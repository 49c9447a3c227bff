package io.orbitkv.manager;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.RegistrationState;
import io.orbitkv.api.Side;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.grant.GrantAuthority;
import io.orbitkv.manager.grant.GrantState;
import io.orbitkv.manager.local.LocalServer;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.Pool;
import io.orbitkv.manager.plan.Instances;
import io.orbitkv.manager.transfer.DigestChecks;
import io.orbitkv.manager.transfer.FetchTimes;
import io.orbitkv.manager.transfer.ReceiptCounters;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Pieces of a Manager's state as JSON: names in lower case, units in the names. */
final class StatusReport {
  /** Holds that are listed one by one, at most. */
  private static final int LISTED_HOLDS = 1000;

  private StatusReport() {}

  static JsonObject pool(Pool pool, Pool.Usage usage) {
    JsonObject json = new JsonObject();
    json.addProperty("capacity_bytes", usage.capacity());
    json.addProperty("huge_page_bytes", pool.hugeBytes());
    json.addProperty("free_bytes", usage.free());
    json.addProperty("retired_bytes", usage.retired());
    json.addProperty("holds", usage.holds());
    return json;
  }

  static JsonObject quarantine(Pool.Usage usage) {
    JsonObject json = new JsonObject();
    json.addProperty("bytes", usage.quarantined());
    json.addProperty("holds", usage.quarantinedHolds());
    return json;
  }

  static JsonObject receipts(ReceiptCounters counters, Side... sides) {
    JsonObject json = new JsonObject();
    for (Evidence evidence : Evidence.values()) {
      long sum = 0;
      for (Side side : sides) {
        sum += counters.spent(side, evidence);
      }
      if (sum > 0) {
        json.addProperty(evidence.name(), sum);
      }
    }
    return json;
  }

  static JsonObject grants(GrantAuthority authority) {
    Map<GrantState, Integer> states = authority.states();
    JsonObject json = new JsonObject();
    json.addProperty("given", authority.given());
    json.addProperty("refused", authority.refused());
    for (GrantState state : GrantState.values()) {
      if (state != GrantState.DRAINED) {
        json.addProperty(state.name().toLowerCase(Locale.ROOT), states.getOrDefault(state, 0));
      }
    }
    return json;
  }

  static JsonObject fetches(FetchTimes.Recent recent) {
    JsonObject json = new JsonObject();
    json.addProperty("recent", recent.count());
    if (recent.count() > 0) {
      addTimes(json, "grant", recent.grant());
      addTimes(json, "read", recent.read());
      addTimes(json, "whole", recent.whole());
    }
    return json;
  }

  private static void addTimes(JsonObject json, String name, FetchTimes.Distribution times) {
    json.addProperty(name + "_mean_nanos", times.mean());
    json.addProperty(name + "_p50_nanos", times.p50());
    json.addProperty(name + "_p99_nanos", times.p99());
    json.addProperty(name + "_max_nanos", times.max());
  }

  static JsonObject digests(long taken, DigestChecks checks) {
    JsonObject json = new JsonObject();
    json.addProperty("taken", taken);
    json.addProperty("checked", checks.checked());
    json.addProperty("mismatches", checks.mismatches());
    json.add("mismatches_by_owner", numbers(checks.mismatchesByOwner()));
    return json;
  }

  static JsonObject sessions(LocalServer server) {
    JsonObject json = new JsonObject();
    json.addProperty("open", server.sessions());
    json.addProperty("queries", server.pendingQueries());
    json.addProperty("refused", server.refusals());
    return json;
  }

  static JsonObject plans(Instances instances) {
    JsonObject json = new JsonObject();
    json.addProperty("open", instances.open());
    json.addProperty("deferred", instances.deferred());
    json.addProperty("promised_bytes", instances.promisedBytes());
    return json;
  }

  static JsonObject registrations(Map<RegistrationState, Integer> states) {
    JsonObject json = new JsonObject();
    for (RegistrationState state : RegistrationState.values()) {
      if (state != RegistrationState.CLOSED) {
        json.addProperty(state.name().toLowerCase(Locale.ROOT), states.getOrDefault(state, 0));
      }
    }
    return json;
  }

  static JsonObject numbers(Map<String, ? extends Number> values) {
    JsonObject json = new JsonObject();
    values.forEach((name, value) -> json.addProperty(name, value.longValue()));
    return json;
  }

  static JsonArray peers(List<PeerHello> hellos) {
    JsonArray json = new JsonArray();
    for (PeerHello hello : hellos) {
      JsonObject peer = new JsonObject();
      peer.addProperty("name", hello.managerName());
      peer.addProperty("control", hello.controlAddress());
      peer.addProperty("endpoint", hello.endpoint().toString());
      peer.addProperty("manager_epoch", hello.managerEpoch().toString());
      peer.addProperty("transport_epoch", hello.transportEpoch().toString());
      json.add(peer);
    }
    return json;
  }

  static JsonArray holds(List<Hold> holds) {
    JsonArray json = new JsonArray();
    long now = System.nanoTime();
    for (Hold hold : holds.subList(0, Math.min(LISTED_HOLDS, holds.size()))) {
      JsonObject entry = new JsonObject();
      entry.addProperty("kind", hold.kind().name().toLowerCase(Locale.ROOT));
      entry.addProperty("holder", hold.holder().toString());
      entry.addProperty("generation", hold.allocation().generation());
      entry.addProperty("bytes", hold.allocation().bytes());
      entry.addProperty("age_ms", TimeUnit.NANOSECONDS.toMillis(now - hold.sinceNanos()));
      entry.addProperty("ended_by", hold.kind().endedBy());
      json.add(entry);
    }
    return json;
  }
}
