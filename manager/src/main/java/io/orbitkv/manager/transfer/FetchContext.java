package io.orbitkv.manager.transfer;

import io.orbitkv.api.Epoch;
import io.orbitkv.manager.catalog.Catalog;
import io.orbitkv.manager.memory.Pool;

/**
 * What every fetch of a Manager works with.
 *
 * @param pool where destinations are held
 * @param catalog where blocks are reserved and sealed
 * @param tickets where batches are submitted
 * @param limits of one ticket
 * @param digests where fetched blocks are compared with their digests
 * @param times where completed fetches are told
 * @param transportEpoch this Manager's transport epoch: the only one that may use its grants
 */
record FetchContext(
    Pool pool,
    Catalog catalog,
    Tickets tickets,
    TransferLimits limits,
    DigestChecks digests,
    FetchTimes times,
    Epoch transportEpoch) {}
