package io.orbitkv.ffm;

/**
 * Who made the other end of a Unix socket, at the time of its connect, as the kernel knows it.
 *
 * @param pid the process; 0 if it is of a pid namespace that this one does not see
 * @param uid the effective user
 * @param gid the effective group
 */
public record PeerCredentials(int pid, int uid, int gid) {}
