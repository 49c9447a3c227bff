package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TransportException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What a grant lets a requester read, with the token that opens it.
 *
 * @param lengths of the ranges, bytes
 */
record WireForm(GrantId grant, Epoch token, List<Long> lengths) implements RemoteRegion {
  static byte[] write(SimulatedSource source) {
    List<Descriptor> ranges = source.admission().ranges();
    ByteBuffer form = ByteBuffer.allocate(16 + 2 * Epoch.BYTES + 8 * ranges.size());
    GrantId grant = source.grant();
    form.putLong(grant.id()).putLong(grant.generation());
    grant.epoch().write(form);
    source.token().write(form);
    ranges.forEach(range -> form.putLong(range.length()));
    return form.array();
  }

  static WireForm read(byte[] bytes, Epoch expected) {
    ByteBuffer form = ByteBuffer.wrap(bytes);
    GrantId grant = new GrantId(form.getLong(), form.getLong(), Epoch.read(form));
    if (!grant.epoch().equals(expected)) {
      throw new TransportException(FaultCode.STALE_EPOCH, "a grant of another incarnation");
    }
    Epoch token = Epoch.read(form);
    List<Long> lengths = new ArrayList<>();
    while (form.hasRemaining()) {
      lengths.add(form.getLong());
    }
    return new WireForm(grant, token, List.copyOf(lengths));
  }

  @Override
  public int ranges() {
    return lengths.size();
  }

  @Override
  public long length(int range) {
    return lengths.get(range);
  }
}
