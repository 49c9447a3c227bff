@NullMarked
package io.orbitkv.ffm;

import org.jspecify.annotations.NullMarked;
