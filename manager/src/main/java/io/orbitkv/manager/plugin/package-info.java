/** Finding, checking and loading providers as PF4J plugins. */
@NullMarked
package io.orbitkv.manager.plugin;

import org.jspecify.annotations.NullMarked;
