/** Benchmarks of single pieces of this package; one class, one question. */
@NullMarked
package io.orbitkv.manager.transfer;

import org.jspecify.annotations.NullMarked;
