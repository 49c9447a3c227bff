/**
 * A transport inside one process: the smallest honest one. It copies from segment to segment and
 * earns LOCAL_QUIESCED on both sides. A lever stops its copies in the middle.
 */
@NullMarked
package io.orbitkv.manager.reference;

import org.jspecify.annotations.NullMarked;
