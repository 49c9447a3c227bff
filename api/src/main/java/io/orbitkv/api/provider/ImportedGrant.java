package io.orbitkv.api.provider;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What a requester knows of a grant of a {@link GatedHold}: its name, the secret that opens its
 * gate, and the lengths of its ranges. Never an address. Immutable.
 */
public final class ImportedGrant implements RemoteRegion {
  private final Peer peer;
  private final GrantId grant;
  private final Secret secret;
  private final List<Long> lengths;

  private ImportedGrant(Peer peer, GrantId grant, Secret secret, List<Long> lengths) {
    this.peer = peer;
    this.grant = grant;
    this.secret = secret;
    this.lengths = List.copyOf(lengths);
  }

  /**
   * Reads {@link GatedHold#wireForm()}; every number in it is checked.
   *
   * @param wireForm what the owner gave out
   * @param peer the owner's incarnation, at which it can be read from then
   * @throws TransportException CORRUPT if it is malformed, STALE_EPOCH if the grant is of another
   *     incarnation than the peer's
   */
  public static ImportedGrant read(byte[] wireForm, Peer peer) {
    ByteBuffer from = ByteBuffer.wrap(wireForm);
    try {
      Epoch owner = Epoch.read(from);
      GrantId grant = new GrantId(from.getLong(), from.getLong(), owner);
      Secret secret = Secret.read(from);
      long ranges = from.getLong();
      List<Long> lengths = new ArrayList<>();
      while (from.hasRemaining()) {
        lengths.add(from.getLong());
      }
      if (ranges < 1 || ranges != lengths.size() || lengths.stream().anyMatch(each -> each < 1)) {
        throw new TransportException(
            FaultCode.CORRUPT,
            "a grant of "
                + wireForm.length
                + " bytes for "
                + ranges
                + " ranges; ask for a new one");
      }
      if (!owner.equals(peer.epoch())) {
        throw new TransportException(
            FaultCode.STALE_EPOCH, grant + " is not of " + peer.epoch() + "; ask for a new grant");
      }
      return new ImportedGrant(peer, grant, secret, lengths);
    } catch (BufferUnderflowException e) {
      throw new TransportException(
          FaultCode.CORRUPT, "a grant of " + wireForm.length + " bytes is cut off", e);
    }
  }

  /**
   * The grant that a batch reads under.
   *
   * @throws TransportException INVALID if it was not imported at this very peer
   */
  public static ImportedGrant of(Batch batch, Peer peer) {
    if (batch.source() instanceof ImportedGrant imported && imported.peer.equals(peer)) {
      return imported;
    }
    throw new TransportException(
        FaultCode.INVALID, batch + " reads from a region that was not imported at this peer");
  }

  static byte[] write(GrantId grant, Secret secret, List<Long> lengths) {
    ByteBuffer to =
        ByteBuffer.allocate(Epoch.BYTES + Secret.BYTES + (3 + lengths.size()) * Long.BYTES);
    grant.epoch().write(to);
    to.putLong(grant.id()).putLong(grant.generation());
    to.put(secret.bytes());
    to.putLong(lengths.size());
    lengths.forEach(to::putLong);
    return to.array();
  }

  @Override
  public GrantId grant() {
    return grant;
  }

  /**
   * What {@link OpenWork#enter} of the owner asks for, 16 bytes: to be sent with each read, and to
   * be logged nowhere.
   */
  public byte[] secret() {
    return secret.bytes();
  }

  @Override
  public int ranges() {
    return lengths.size();
  }

  @Override
  public long length(int range) {
    return lengths.get(range);
  }

  @Override
  public String toString() {
    return grant + " of " + lengths.size() + " ranges";
  }
}
