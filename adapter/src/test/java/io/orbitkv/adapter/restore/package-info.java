/** Tests of the words and of the engine's half of a restore record. */
@NullMarked
package io.orbitkv.adapter.restore;

import org.jspecify.annotations.NullMarked;
