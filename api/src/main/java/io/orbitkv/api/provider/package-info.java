/**
 * Ready parts for a provider whose work is begun and ended by its own threads: what every author
 * would write again, and where a mistake costs somebody's cache. Nothing asks for them: a provider
 * may use all, some or none.
 *
 * <p>{@link io.orbitkv.api.provider.OpenWork} is the place to begin. It knows what one opened
 * transport has not ended, and makes {@link io.orbitkv.api.provider.GatedTicket tickets} and {@link
 * io.orbitkv.api.provider.GatedHold source holds} whose receipts come from a {@link
 * io.orbitkv.api.provider.Gate}.
 */
@NullMarked
package io.orbitkv.api.provider;

import org.jspecify.annotations.NullMarked;
