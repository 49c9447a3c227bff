/**
 * Claim and revocation of a restore record: the words that the Manager and its engines write, the
 * engine's steps, and what a session does with its plans when the Manager has died. The Manager's
 * steps are in the Manager. Normative text: docs/protocol/restore-record.md.
 */
@NullMarked
package io.orbitkv.adapter.restore;

import org.jspecify.annotations.NullMarked;
