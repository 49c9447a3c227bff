/** Which blocks are in the pool, under which name, and who may read them. */
@NullMarked
package io.orbitkv.manager.catalog;

import org.jspecify.annotations.NullMarked;
