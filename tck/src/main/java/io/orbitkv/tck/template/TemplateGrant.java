package io.orbitkv.tck.template;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** What a hold gives out and a peer imports; every number is checked on the way in. */
record TemplateGrant(GrantId grant, Epoch requester, Epoch secret, List<Long> lengths) {
  byte[] write() {
    ByteBuffer to = ByteBuffer.allocate(3 * Epoch.BYTES + (3 + lengths.size()) * Long.BYTES);
    grant.epoch().write(to);
    requester.write(to);
    secret.write(to);
    to.putLong(grant.id()).putLong(grant.generation()).putLong(lengths.size());
    lengths.forEach(to::putLong);
    return to.array();
  }

  static TemplateGrant read(byte[] bytes) {
    ByteBuffer from = ByteBuffer.wrap(bytes);
    try {
      Epoch owner = Epoch.read(from);
      Epoch requester = Epoch.read(from);
      Epoch secret = Epoch.read(from);
      GrantId grant = new GrantId(from.getLong(), from.getLong(), owner);
      long ranges = from.getLong();
      List<Long> lengths = new ArrayList<>();
      while (from.hasRemaining()) {
        lengths.add(from.getLong());
      }
      if (ranges < 1 || ranges != lengths.size() || lengths.stream().anyMatch(each -> each < 1)) {
        throw TemplateTransport.refuse(FaultCode.CORRUPT, "a grant of " + ranges + " ranges");
      }
      return new TemplateGrant(grant, requester, secret, lengths);
    } catch (BufferUnderflowException e) {
      throw TemplateTransport.refuse(FaultCode.CORRUPT, "a grant of " + bytes.length + " bytes");
    }
  }
}
