/**
 * What both ends of the same-host channel share: the layouts of commands and their descriptors,
 * which outlive the socket, and the frames that carry them today.
 */
@NullMarked
package io.orbitkv.adapter.wire;

import org.jspecify.annotations.NullMarked;
