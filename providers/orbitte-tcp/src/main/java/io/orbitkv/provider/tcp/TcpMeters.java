package io.orbitkv.provider.tcp;

import io.orbitkv.api.spi.Meters;
import io.orbitkv.api.spi.Meters.Counter;
import io.orbitkv.api.spi.Meters.Gauge;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What one transport counts.
 *
 * @param sentBytes payload handed to the kernel for peers
 * @param referredBytes of that by reference
 * @param pinnedBytes of grants with a reply by reference whose word is missing
 * @param receivedBytes payload received into destinations
 * @param discardedBytes payload of abandoned replies, received into scratch
 * @param requests READ frames sent
 * @param served READ frames answered with data
 * @param refusals READ frames answered with a refusal, and connections refused
 * @param failures connections to a peer that failed
 * @param outgoing connections to peers
 * @param outgoingSmall those of them that small tickets have for themselves
 * @param outgoingBulk the others of them
 * @param incoming connections of peers
 * @param inFlight READ frames sent whose reply has not ended
 * @param tickets tickets without a receipt
 * @param holds source holds without a receipt
 * @param all makes a gauge for each congestion control
 */
record TcpMeters(
    Counter sentBytes,
    Counter referredBytes,
    Gauge pinnedBytes,
    Counter receivedBytes,
    Counter discardedBytes,
    Counter requests,
    Counter served,
    Counter refusals,
    Counter failures,
    Gauge outgoing,
    Gauge outgoingSmall,
    Gauge outgoingBulk,
    Gauge incoming,
    Gauge inFlight,
    Gauge tickets,
    Gauge holds,
    Meters all) {
  private static final Pattern NOT_FOR_A_NAME = Pattern.compile("[^a-z0-9]");

  static TcpMeters of(Meters meters) {
    return new TcpMeters(
        meters.counter("sent_bytes", "Payload sent to peers, bytes."),
        meters.counter("referred_bytes", "Payload of it sent by sendfile, bytes."),
        meters.gauge(
            "sendfile_pinned_bytes", "Grants that wait for a peer's word after sendfile, bytes."),
        meters.counter("received_bytes", "Payload received into destinations, bytes."),
        meters.counter("discarded_bytes", "Payload of abandoned replies, bytes."),
        meters.counter("requests", "READ frames sent to peers."),
        meters.counter("served", "READ frames of peers answered with data."),
        meters.counter("refusals", "READ frames and connections of peers that were refused."),
        meters.counter("connection_failures", "Connections to peers that failed."),
        meters.gauge("outgoing_connections", "Open connections to peers."),
        meters.gauge("outgoing_small_connections", "Those of them for small reads alone."),
        meters.gauge("outgoing_bulk_connections", "The others of them."),
        meters.gauge("incoming_connections", "Open connections of peers."),
        meters.gauge("requests_in_flight", "READ frames sent whose reply has not ended."),
        meters.gauge("tickets", "Tickets without a receipt."),
        meters.gauge("source_holds", "Source holds without a receipt."),
        meters);
  }

  /** Connections to peers under the congestion control of a name; these ask for the payload. */
  Gauge outgoingCongestion(String name) {
    return congestion("outgoing", name);
  }

  /** Connections of peers under the congestion control of a name; these send the payload. */
  Gauge incomingCongestion(String name) {
    return congestion("incoming", name);
  }

  private Gauge congestion(String direction, String name) {
    String inForce = NOT_FOR_A_NAME.matcher(name.toLowerCase(Locale.ROOT)).replaceAll("_");
    return all.gauge(
        direction + "_congestion_" + inForce,
        "Open " + direction + " connections under congestion control " + name + ".");
  }
}
