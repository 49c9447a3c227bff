/**
 * What a provider implements, and what the Manager lends it.
 *
 * <p>Discovered by {@link java.util.ServiceLoader} inside a PF4J plugin: the plugin's jar lists its
 * {@link Provider} under {@code META-INF/services/io.orbitkv.api.spi.Provider}. All methods are
 * thread-safe. A provider owns and names its threads and joins them in {@code close()}. A second
 * {@code close()} of an ownership object ({@link Registration}) is an error; of a service ({@link
 * Transport}, {@link Peer}) a no-op. {@code close()} never waits for a peer or a device: {@code
 * quiesce}, {@code drain} and {@code closeSource} are explicit. Control paths throw {@link
 * io.orbitkv.api.TransportException}; data paths return an {@link io.orbitkv.api.Outcome}.
 */
@NullMarked
package io.orbitkv.api.spi;

import org.jspecify.annotations.NullMarked;
