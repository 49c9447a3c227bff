/** Tests of claim, revocation and promise. */
@NullMarked
package io.orbitkv.manager.restore;

import org.jspecify.annotations.NullMarked;
