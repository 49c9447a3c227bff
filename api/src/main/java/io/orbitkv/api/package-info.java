/**
 * Values: regions, descriptors, batches, outcomes, evidence, receipts, fault codes.
 *
 * <p>Nothing here touches memory, a socket or a thread. No parameter or result is null unless its
 * type says so. Lengths and offsets are in bytes, times in nanoseconds.
 */
@NullMarked
package io.orbitkv.api;

import org.jspecify.annotations.NullMarked;
