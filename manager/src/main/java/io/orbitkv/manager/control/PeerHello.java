package io.orbitkv.manager.control;

import io.orbitkv.api.Epoch;
import java.net.URI;

/**
 * What a Manager says of itself when a control stream opens, in both directions.
 *
 * @param managerEpoch its incarnation
 * @param managerName for people: host name and process id
 * @param controlAddress where its own control server is reached, {@code host:port}
 * @param provider name of its peer transfer backend; a peer with another one is refused
 * @param transportEpoch incarnation of its opened transport
 * @param endpoint of that transport
 * @param peerBytes the provider's opaque bytes
 */
@SuppressWarnings("ArrayRecordComponent") // opaque bytes, written once, never compared
public record PeerHello(
    Epoch managerEpoch,
    String managerName,
    String controlAddress,
    String provider,
    Epoch transportEpoch,
    URI endpoint,
    byte[] peerBytes) {}
