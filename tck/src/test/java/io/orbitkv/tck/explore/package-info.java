/** Tests of the exploration. */
@NullMarked
package io.orbitkv.tck.explore;

import org.jspecify.annotations.NullMarked;
