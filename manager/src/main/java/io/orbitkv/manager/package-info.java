/** The Manager: the daemon of a host, and the only authority over its memory. */
@NullMarked
package io.orbitkv.manager;

import org.jspecify.annotations.NullMarked;
