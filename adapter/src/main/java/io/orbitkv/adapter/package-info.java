/**
 * The same-host channel: what an engine process says to the Manager of its own host, and the client
 * for Java engines.
 */
@NullMarked
package io.orbitkv.adapter;

import org.jspecify.annotations.NullMarked;
