/**
 * Measures round trips of the same-host channel between two processes, beside others that carry 64
 * bytes there and back.
 *
 * <p>The process that measures is the <em>client</em>, the one that answers the <em>server</em>;
 * for the channel that is a Manager, which the caller has started. Every client takes the same
 * lines on its standard input ({@link io.orbitkv.bench.channel.ChannelEnd} says which), whatever it
 * is written in, so that this package only starts, pins and asks.
 */
@NullMarked
package io.orbitkv.bench.channel;

import org.jspecify.annotations.NullMarked;
