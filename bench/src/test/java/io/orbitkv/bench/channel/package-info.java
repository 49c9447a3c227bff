/** Tests of the measuring of round trips. */
@NullMarked
package io.orbitkv.bench.channel;

import org.jspecify.annotations.NullMarked;
