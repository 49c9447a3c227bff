/** The tests of the kit. */
@NullMarked
package io.orbitkv.tck;

import org.jspecify.annotations.NullMarked;
