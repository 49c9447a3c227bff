package io.orbitkv.adapter;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.ForkMark;

/** Refuses a forked child: it has the socket of its parent's session, but not the mappings. */
final class OwnProcess {
  private OwnProcess() {}

  /**
   * To be asked before every use; one load.
   *
   * @throws TransportException DENIED in a child that was forked from the process that connected
   */
  static void check() {
    if (ForkMark.isForkedChild()) {
      throw new TransportException(
          FaultCode.DENIED,
          "this client belongs to the process that this one was forked from; connect in the child,"
              + " or start it by exec");
    }
  }
}
