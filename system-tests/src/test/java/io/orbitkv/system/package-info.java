/** Tests of the whole: the packaged distribution, several processes, and how the modules depend. */
@NullMarked
package io.orbitkv.system;

import org.jspecify.annotations.NullMarked;
