/** Which other Managers there are, and how this one becomes known to them. */
@NullMarked
package io.orbitkv.manager.membership;

import org.jspecify.annotations.NullMarked;
