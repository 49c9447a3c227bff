package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TransportException;
import java.nio.ByteBuffer;

/**
 * A grant's wire form: what a hold gives out and a peer imports. Big-endian.
 *
 * <pre>
 *  0       2   4      8        16         24     40        56       72
 *  +-------+---+------+--------+----------+------+---------+--------+--------------+
 *  |form: 1| 0 |ranges|grant id|generation|owner |requester| token  | lengths ...  |
 *  +-------+---+------+--------+----------+------+---------+--------+--------------+
 * </pre>
 */
final class GrantForm {
  private static final short FORM = 1;
  private static final int HEADER_BYTES = 72;

  private final GrantId grant;
  private final Epoch requester;
  private final Token token;
  private final long[] lengths;

  GrantForm(GrantId grant, Epoch requester, Token token, long[] lengths) {
    this.grant = grant;
    this.requester = requester;
    this.token = token;
    this.lengths = lengths.clone();
  }

  GrantId grant() {
    return grant;
  }

  Epoch requester() {
    return requester;
  }

  Token token() {
    return token;
  }

  int ranges() {
    return lengths.length;
  }

  long length(int range) {
    return lengths[range];
  }

  byte[] write() {
    ByteBuffer to = ByteBuffer.allocate(HEADER_BYTES + lengths.length * Long.BYTES);
    to.putShort(FORM).putShort((short) 0).putInt(lengths.length);
    to.putLong(grant.id()).putLong(grant.generation());
    grant.epoch().write(to);
    requester.write(to);
    to.putLong(token.high()).putLong(token.low());
    for (long length : lengths) {
      to.putLong(length);
    }
    return to.array();
  }

  /**
   * Reads one; every number is checked.
   *
   * @throws TransportException CORRUPT
   */
  static GrantForm read(byte[] bytes) {
    if (bytes.length < HEADER_BYTES + Long.BYTES) {
      throw corrupt("is " + bytes.length + " bytes long, too short");
    }
    ByteBuffer from = ByteBuffer.wrap(bytes);
    short form = from.getShort();
    short zero = from.getShort();
    int ranges = from.getInt();
    if (form != FORM || zero != 0) {
      throw corrupt("has form " + form + ", this side knows " + FORM);
    }
    if (ranges < 1
        || ranges > Wire.MAX_RANGES
        || bytes.length != HEADER_BYTES + ranges * Long.BYTES) {
      throw corrupt("names " + ranges + " ranges in " + bytes.length + " bytes");
    }
    long id = from.getLong();
    long generation = from.getLong();
    Epoch owner = Epoch.read(from);
    Epoch requester = Epoch.read(from);
    Token token = new Token(from.getLong(), from.getLong());
    long[] lengths = new long[ranges];
    for (int i = 0; i < ranges; i++) {
      lengths[i] = from.getLong();
      if (lengths[i] < 1) {
        throw corrupt("has range " + i + " of " + lengths[i] + " bytes");
      }
    }
    return new GrantForm(new GrantId(id, generation, owner), requester, token, lengths);
  }

  private static TransportException corrupt(String problem) {
    return new TransportException(
        FaultCode.CORRUPT, "the wire form of a grant " + problem + "; ask for a new grant");
  }
}
