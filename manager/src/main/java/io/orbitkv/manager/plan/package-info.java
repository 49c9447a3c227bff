/**
 * The plans of engine instances at the Manager: records and plan bank in memory that an instance's
 * sessions have mapped, who may claim, and when a plan ends. The words are {@link
 * io.orbitkv.manager.restore}'s. Normative text: docs/protocol/channel.md, section 6.
 */
@NullMarked
package io.orbitkv.manager.plan;

import org.jspecify.annotations.NullMarked;
