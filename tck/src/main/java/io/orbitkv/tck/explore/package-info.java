/**
 * Exhaustive exploration of small models, for tests. A {@link io.orbitkv.tck.explore.Model} says
 * where it begins, which steps a state allows, what is broken and what has ended; {@link
 * io.orbitkv.tck.explore.Explorer} visits every reachable state breadth first. It finds the
 * shortest trace to a broken state, or else to a state from which no path without a further fault
 * ends. States are immutable values; or, through {@link io.orbitkv.tck.explore.WorldModel}, real
 * mutable objects inside a {@link io.orbitkv.tck.explore.World}, which is built anew and led along
 * a path of steps for every visit.
 */
@NullMarked
package io.orbitkv.tck.explore;

import org.jspecify.annotations.NullMarked;
