/** Tests of the whole: real processes of the packaged distribution, real sockets, real faults. */
@NullMarked
package io.orbitkv.systemtests;

import org.jspecify.annotations.NullMarked;
