/**
 * Measures how fast a provider moves blocks between two processes, beside a raw socket that moves
 * the same ones.
 *
 * <p>The <em>owner</em> ({@link io.orbitkv.bench.OwnerServer}) holds a pool of known bytes and
 * grants the <em>requester</em> ({@link io.orbitkv.bench.Requester}) the whole of it. The two speak
 * over a control connection of their own; everything that is measured goes through the provider's
 * SPI. Drives a provider that the caller has loaded; knows none.
 */
@NullMarked
package io.orbitkv.bench;

import org.jspecify.annotations.NullMarked;
