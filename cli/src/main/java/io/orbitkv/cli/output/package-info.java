/** How the command talks to people: units, tables, progress. */
@NullMarked
package io.orbitkv.cli.output;

import org.jspecify.annotations.NullMarked;
