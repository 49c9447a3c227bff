/**
 * The control plane between Managers: one long-lived gRPC stream per peer, and what is said on it.
 */
@NullMarked
package io.orbitkv.manager.control;

import org.jspecify.annotations.NullMarked;
