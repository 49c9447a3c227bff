/**
 * Linux libc for OrbitKV: descriptors, mapped memory, sockets, waiting.
 *
 * <p>Every type that owns a descriptor or a mapping is closed exactly once by its owner; a second
 * {@code close()} throws {@link IllegalStateException}. A descriptor's number goes back to the
 * kernel only after the last thread inside a call on it has left. A failed call throws {@link
 * NativeException}. Lengths and offsets are bytes; times are nanoseconds unless the name says
 * otherwise. Parameters are never null unless marked.
 */
@NullMarked
package io.orbitkv.ffm;

import org.jspecify.annotations.NullMarked;
