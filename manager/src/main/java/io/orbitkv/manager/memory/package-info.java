/** The pool: arenas, allocations with generations, and the ledger of holds on them. */
@NullMarked
package io.orbitkv.manager.memory;

import org.jspecify.annotations.NullMarked;
