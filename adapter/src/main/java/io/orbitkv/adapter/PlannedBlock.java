package io.orbitkv.adapter;

/**
 * One block of a {@link RestorePlan}.
 *
 * @param index of a promise: which of the names asked for; of a restore: which of the lease's
 *     blocks that were asked for; from 0
 * @param bytes its length
 */
public record PlannedBlock(int index, long bytes) {}
