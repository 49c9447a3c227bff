/** What {@code orbitkv bench} shows: its tables and its JSON. */
@NullMarked
package io.orbitkv.cli.bench;

import org.jspecify.annotations.NullMarked;
