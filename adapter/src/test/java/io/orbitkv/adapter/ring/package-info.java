/** Tests of the shared-memory ring, without a Manager. */
@NullMarked
package io.orbitkv.adapter.ring;

import org.jspecify.annotations.NullMarked;
