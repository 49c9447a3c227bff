/** The command {@code orbitkv}. */
@NullMarked
package io.orbitkv.cli;

import org.jspecify.annotations.NullMarked;
