package io.orbitkv.manager.restore;

import io.orbitkv.adapter.restore.ClientOrdering;
import io.orbitkv.adapter.restore.SharedWord;

/**
 * A session that may claim a record.
 *
 * @param word its word of that record, in memory that no other session can write
 * @param ordering what its client does not order itself
 * @param copiesOnDevice whether its copies may be a device's, which outlive the process
 */
public record RestoringSession(SharedWord word, ClientOrdering ordering, boolean copiesOnDevice) {}
