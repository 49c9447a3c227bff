/**
 * The shared-memory ring of one session: two rings of commands with a descriptor arena each, one
 * for either direction, and how a side waits for the other. Both sides write all of it, so neither
 * takes anything in it for true before it was copied out and checked. Layout: {@link
 * io.orbitkv.adapter.ring.RingLayout}.
 */
@NullMarked
package io.orbitkv.adapter.ring;

import org.jspecify.annotations.NullMarked;
