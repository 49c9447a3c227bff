/** A provider to begin with: the one that docs/writing-a-provider.md explains. */
@NullMarked
package io.orbitkv.tck.template;

import org.jspecify.annotations.NullMarked;
