package io.orbitkv.systemtests.simulation;

import io.orbitkv.manager.grant.GrantLimits;
import io.orbitkv.manager.transfer.TransferLimits;

/** What the simulated Managers are configured with; times in simulated ns. */
final class Limits {
  static final long MILLISECOND = 1_000_000;
  static final long PAGE = 4096;

  static final long GRANT_LIFETIME = 60 * MILLISECOND;
  static final long LEASE_LIFETIME = 30 * MILLISECOND;
  static final long RETIREMENT_GRACE = 10 * MILLISECOND;
  static final long CALL_TIMEOUT = 15 * MILLISECOND;
  static final long READ_DEADLINE = 50 * MILLISECOND;

  static final GrantLimits GRANTS = new GrantLimits(3, 3 * Blocks.LONGEST, GRANT_LIFETIME);
  // Small, so that a block of two pages is several entries of several tickets.
  static final TransferLimits TRANSFERS = new TransferLimits(4096, 2, 2048);

  private Limits() {}
}
