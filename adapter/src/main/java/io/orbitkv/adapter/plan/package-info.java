/**
 * Where plans lie: the memory of an engine instance that the Manager writes, and the claim words of
 * a session that its engine writes. Normative text: docs/protocol/channel.md, section 6.
 */
@NullMarked
package io.orbitkv.adapter.plan;

import org.jspecify.annotations.NullMarked;
