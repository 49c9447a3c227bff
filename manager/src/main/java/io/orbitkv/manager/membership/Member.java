package io.orbitkv.manager.membership;

/**
 * A Manager as membership knows it.
 *
 * @param controlAddress where its control server is reached, {@code host:port}, IPv6 in brackets
 * @param managerEpoch its incarnation as text, or empty where membership does not know it
 */
public record Member(String controlAddress, String managerEpoch) {}
