/**
 * A transport inside one process: the smallest honest one. It copies from segment to segment and
 * earns LOCAL_QUIESCED on both sides. A {@link io.orbitkv.tck.reference.Lever} stops or cuts its
 * copies; a {@link io.orbitkv.tck.reference.Defect} makes it wrong in one way, so that the kit can
 * be tested.
 */
@NullMarked
package io.orbitkv.tck.reference;

import org.jspecify.annotations.NullMarked;
