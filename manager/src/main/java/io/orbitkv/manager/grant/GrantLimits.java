package io.orbitkv.manager.grant;

/**
 * What an owner allows.
 *
 * @param maxGrantsPerPeer grants of one peer that are not drained
 * @param maxPinnedBytesPerPeer bytes pinned for one peer
 * @param lifetimeNanos after this long a token is retired
 */
public record GrantLimits(int maxGrantsPerPeer, long maxPinnedBytesPerPeer, long lifetimeNanos) {}
