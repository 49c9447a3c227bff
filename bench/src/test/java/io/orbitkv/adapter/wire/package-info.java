/** Benchmarks of single pieces of this package; one class, one question. */
@NullMarked
package io.orbitkv.adapter.wire;

import org.jspecify.annotations.NullMarked;
