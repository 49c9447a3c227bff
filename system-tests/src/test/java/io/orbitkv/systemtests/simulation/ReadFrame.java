package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.GrantId;

/**
 * A READ on the wire.
 *
 * @param requester the requester's transport epoch
 * @param ownerEpoch the owner's transport epoch, as the requester knows it
 */
record ReadFrame(
    Connection connection,
    long requestId,
    Epoch requester,
    Epoch ownerEpoch,
    GrantId grant,
    Epoch token,
    int range,
    long offset,
    long length) {
  @Override
  public String toString() {
    return "READ " + requestId + " under grant " + grant.id() + " on " + connection;
  }
}
