package io.orbitkv.api;

/**
 * The name of one region inside its Manager.
 *
 * @param id chosen by the Manager
 * @param generation from one counter that only rises, so that no pair ever names two regions
 */
public record RegionId(long id, long generation) {}
