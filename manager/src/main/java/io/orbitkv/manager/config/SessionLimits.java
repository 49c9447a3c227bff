package io.orbitkv.manager.config;

/**
 * What one engine session may have outstanding; beyond it a request is refused.
 *
 * @param queries queries that are not answered yet
 * @param queriesOfAll those of all sessions together
 * @param publishes publishes that are not answered yet
 * @param commandBytes what its pending commands hold, bytes
 * @param leases leases that are not released yet
 * @param registrations memory registrations
 * @param registeredBytes what they cover, bytes
 */
public record SessionLimits(
    int queries,
    int queriesOfAll,
    int publishes,
    long commandBytes,
    int leases,
    int registrations,
    long registeredBytes) {
  static SessionLimits of(SettingValues values) {
    return new SessionLimits(
        values.get(Settings.QUERIES_PER_SESSION),
        values.get(Settings.QUERIES),
        values.get(Settings.PUBLISHES_PER_SESSION),
        values.get(Settings.COMMAND_BYTES_PER_SESSION),
        values.get(Settings.LEASES_PER_SESSION),
        values.get(Settings.REGISTRATIONS_PER_SESSION),
        values.get(Settings.REGISTERED_BYTES_PER_SESSION));
  }
}
