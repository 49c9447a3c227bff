/**
 * The Manager's half of a restore record: grant, revocation, release on evidence, and the promise
 * of a plan to an engine instance. Normative text: docs/protocol/restore-record.md.
 */
@NullMarked
package io.orbitkv.manager.restore;

import org.jspecify.annotations.NullMarked;
