/** Tests of plans, with real Managers, real processes and real memory. */
@NullMarked
package io.orbitkv.manager.plan;

import org.jspecify.annotations.NullMarked;
