/** Tests of the client that need no Manager. */
@NullMarked
package io.orbitkv.adapter;

import org.jspecify.annotations.NullMarked;
