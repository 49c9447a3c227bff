package io.orbitkv.systemtests.simulation;

import io.orbitkv.manager.control.PeerHello;

/**
 * One control stream: who asked for it, and who answered.
 *
 * @param requester what the requester said of itself
 * @param owner what the owner said of itself
 */
record Stream(
    int number, SimulatedManager from, SimulatedManager to, PeerHello requester, PeerHello owner) {
  @Override
  public String toString() {
    return "stream " + number + " of " + from + " to " + to;
  }
}
