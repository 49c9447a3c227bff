/** Races of the real classes, run by jcstress: what they share, and the test that runs them. */
@NullMarked
package io.orbitkv.stress;

import org.jspecify.annotations.NullMarked;
