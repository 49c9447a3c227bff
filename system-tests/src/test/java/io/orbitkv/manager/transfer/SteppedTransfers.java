package io.orbitkv.manager.transfer;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.memory.Pool;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;

/**
 * The requester's half of one Manager, without threads of its own.
 *
 * @param context of every fetch
 * @param peers that answer now
 */
public record SteppedTransfers(Object context, RemotePeers peers) {
  /** The real parts, put together as the Manager does. */
  public static SteppedTransfers of(
      Pool pool,
      Catalog catalog,
      Tickets tickets,
      TransferLimits limits,
      ExecutorService digestThreads,
      Epoch transportEpoch,
      RemotePeers peers) {
    return new SteppedTransfers(
        new FetchContext(
            pool,
            catalog,
            tickets,
            limits,
            new DigestChecks(digestThreads),
            new FetchTimes(),
            transportEpoch),
        peers);
  }

  /** A coordinator whose retries the caller runs, on the caller's clock. */
  public static DrainCoordinator coordinator(
      ReceiptIssuer issuer,
      ReceiptCounters counters,
      long quarantineAfterNanos,
      ScheduledExecutorService retries,
      LongSupplier clock) {
    return new DrainCoordinator(issuer, counters, quarantineAfterNanos, retries, clock);
  }

  FetchContext fetchContext() {
    return (FetchContext) context;
  }
}
