package io.orbitkv.manager.grant;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.control.PeerHello;
import io.orbitkv.manager.transfer.DrainCoordinator;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** A grant authority whose expiries the caller runs. */
public final class SteppedGrants {
  private SteppedGrants() {}

  /** The real authority. */
  public static GrantAuthority authority(
      Catalog catalog,
      Transport transport,
      ReceiptIssuer issuer,
      DrainCoordinator coordinator,
      GrantLimits limits,
      Supplier<PeerHello> self,
      BiConsumer<Epoch, GrantId> revoked,
      ScheduledExecutorService expiries) {
    return new GrantAuthority(
        catalog, transport, issuer, coordinator, limits, self, revoked, expiries);
  }
}
