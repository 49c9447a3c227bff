package io.orbitkv.adapter;

/**
 * What the publishes of one client are doing, at about the same moment.
 *
 * @param active publishes that have not ended
 * @param retained publishes whose ranges must not be written yet: the active ones, and those that
 *     the connection was lost of while the Manager lives, which may still be copying
 * @param overdue active publishes that took longer than they were expected to; they go on
 * @param managerAlive whether the Manager's process lives
 */
public record PublishActivity(int active, int retained, int overdue, boolean managerAlive) {}
