/**
 * The compatibility kit that every provider must pass. A provider supplies one {@link
 * io.orbitkv.tck.ProviderFixture} and inherits the suites, the classes whose names end in {@code
 * Tck}; or {@link io.orbitkv.tck.TckRun} runs them all against a fixture, as {@code orbitkv tck}
 * does with a packaged plugin. Everything is expected of a provider, except what its fixture
 * declines with a reason.
 */
@NullMarked
package io.orbitkv.tck;

import org.jspecify.annotations.NullMarked;
