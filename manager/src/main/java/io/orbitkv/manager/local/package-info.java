/** The server side of the same-host channel: the Unix socket, its sessions, engine memory. */
@NullMarked
package io.orbitkv.manager.local;

import org.jspecify.annotations.NullMarked;
