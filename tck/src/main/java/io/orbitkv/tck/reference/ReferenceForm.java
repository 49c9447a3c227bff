package io.orbitkv.tck.reference;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TransportException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A grant's wire form: magic, grant, requester, secret, then a length for each range; big-endian.
 *
 * @param secret what nobody can guess; the owner compares it
 */
record ReferenceForm(GrantId grant, Epoch requester, Epoch secret, List<Long> lengths) {
  private static final int MAGIC = 0x4f4b5652;
  private static final int FIXED_BYTES = 4 + 2 * Long.BYTES + 3 * Epoch.BYTES + 4;

  byte[] write() {
    ByteBuffer to = ByteBuffer.allocate(FIXED_BYTES + lengths.size() * Long.BYTES);
    to.putInt(MAGIC).putLong(grant.id()).putLong(grant.generation());
    grant.epoch().write(to);
    requester.write(to);
    secret.write(to);
    to.putInt(lengths.size());
    lengths.forEach(to::putLong);
    return to.array();
  }

  /**
   * Reads one; every number is checked.
   *
   * @throws TransportException CORRUPT
   */
  static ReferenceForm read(byte[] bytes) {
    ByteBuffer from = ByteBuffer.wrap(bytes);
    try {
      if (from.getInt() != MAGIC) {
        throw corrupt("does not begin with its magic number");
      }
      long id = from.getLong();
      long generation = from.getLong();
      GrantId grant = new GrantId(id, generation, Epoch.read(from));
      Epoch requester = Epoch.read(from);
      Epoch secret = Epoch.read(from);
      int ranges = from.getInt();
      if (ranges < 1 || from.remaining() != (long) ranges * Long.BYTES) {
        throw corrupt("names " + ranges + " ranges in " + bytes.length + " bytes");
      }
      List<Long> lengths = new ArrayList<>();
      for (int i = 0; i < ranges; i++) {
        long length = from.getLong();
        if (length < 1) {
          throw corrupt("has a range of " + length + " bytes");
        }
        lengths.add(length);
      }
      return new ReferenceForm(grant, requester, secret, List.copyOf(lengths));
    } catch (BufferUnderflowException e) {
      throw corrupt("is " + bytes.length + " bytes long, too short");
    }
  }

  private static TransportException corrupt(String problem) {
    return new TransportException(
        FaultCode.CORRUPT, "the wire form of a grant " + problem + "; ask for a new grant");
  }
}
