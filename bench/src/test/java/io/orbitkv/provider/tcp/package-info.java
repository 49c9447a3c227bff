/** Benchmarks of single pieces of this package; one class, one question. */
@NullMarked
package io.orbitkv.provider.tcp;

import org.jspecify.annotations.NullMarked;
