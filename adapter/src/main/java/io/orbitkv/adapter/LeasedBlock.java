package io.orbitkv.adapter;

/**
 * One block of a {@link BlockLease}.
 *
 * @param index which of the names asked for, from 0
 * @param name its name
 * @param origin where the Manager found it
 * @param bytes its length
 */
public record LeasedBlock(int index, BlockName name, Origin origin, long bytes) {}
