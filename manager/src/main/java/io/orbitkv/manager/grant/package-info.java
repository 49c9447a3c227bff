/** The owner's half of a READ: who may read what, until its source hold is drained. */
@NullMarked
package io.orbitkv.manager.grant;

import org.jspecify.annotations.NullMarked;
