/** Tests of the measuring itself, and the smoke run of the benchmarks of single pieces. */
@NullMarked
package io.orbitkv.bench;

import org.jspecify.annotations.NullMarked;
