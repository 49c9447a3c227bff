package io.orbitkv.tck;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.spi.SourceHold;
import java.util.Optional;

record FaultyHold(SourceHold hold, FaultPlan plan) implements SourceHold {
  @Override
  public GrantId grant() {
    return hold.grant();
  }

  @Override
  public byte[] wireForm() {
    return hold.wireForm();
  }

  @Override
  public void revoke() {
    hold.revoke();
  }

  @Override
  public Optional<DrainReceipt> drain() {
    return plan.strikes(FaultPlan.Point.HOLD_DRAIN) ? Optional.empty() : hold.drain();
  }
}
