package io.orbitkv.adapter;

/**
 * A block that was there when it was asked for. Nothing is pinned, so nothing is promised.
 *
 * @param index which of the names asked for, from 0
 * @param name its name
 * @param bytes its length
 */
public record Candidate(int index, BlockName name, long bytes) {}
