package io.orbitkv.provider.tcp;

import io.orbitkv.api.GrantId;
import io.orbitkv.api.RemoteRegion;

/** What one grant lets this requester read. A value of the peer that imported it. */
final class ImportedRegion implements RemoteRegion {
  private final TcpPeer peer;
  private final GrantForm form;

  ImportedRegion(TcpPeer peer, GrantForm form) {
    this.peer = peer;
    this.form = form;
  }

  TcpPeer peer() {
    return peer;
  }

  Token token() {
    return form.token();
  }

  @Override
  public GrantId grant() {
    return form.grant();
  }

  @Override
  public int ranges() {
    return form.ranges();
  }

  @Override
  public long length(int range) {
    return form.length(range);
  }

  @Override
  public String toString() {
    return "region of " + grant();
  }
}
