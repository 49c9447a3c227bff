/** Replays a request trace against running Managers and checks every byte that comes back. */
@NullMarked
package io.orbitkv.cli.replay;

import org.jspecify.annotations.NullMarked;
