/** Providers that the tests put into plugins. */
@NullMarked
package io.orbitkv.cli.sample;

import org.jspecify.annotations.NullMarked;
