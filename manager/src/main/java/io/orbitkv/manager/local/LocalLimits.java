package io.orbitkv.manager.local;

import io.orbitkv.manager.config.SessionLimits;

/**
 * What the same-host channel admits. Beyond a limit a request is refused, as EXHAUSTED, before any
 * side effect.
 *
 * @param sessions sessions at once, those that ended with leases included; 1 to 4,096
 * @param queriesPerSession queries of one session that are not answered yet
 * @param queries queries of all sessions that are not answered yet
 * @param publishesPerSession publishes of one session that are not answered yet
 * @param metadataBytes what commands of one session that are not answered yet may hold, bytes
 * @param leasesPerSession leases of one session that are not released yet
 * @param registrationsPerSession registrations of one session
 * @param registeredBytes what the registrations of one session may cover, bytes
 * @param copyThreads threads that copy published blocks, at least 1
 * @param helloMillis from accepting a connection to its whole HELLO
 */
public record LocalLimits(
    int sessions,
    int queriesPerSession,
    int queries,
    int publishesPerSession,
    long metadataBytes,
    int leasesPerSession,
    int registrationsPerSession,
    long registeredBytes,
    int copyThreads,
    int helloMillis) {
  /** The defaults. */
  public static final LocalLimits DEFAULTS =
      new LocalLimits(
          64,
          128,
          1_024,
          1_024,
          32L << 20,
          16_384,
          1_024,
          1L << 40,
          Math.clamp(Runtime.getRuntime().availableProcessors(), 2, 8),
          5_000);

  private static final int MAX_SESSIONS = 4_096;

  /** Checks the bounds; {@link IllegalArgumentException} if one is left. */
  public LocalLimits {
    if (sessions < 1 || sessions > MAX_SESSIONS) {
      throw new IllegalArgumentException(
          "limit of " + sessions + " sessions; allowed are 1 to " + MAX_SESSIONS);
    }
    if (copyThreads < 1 || helloMillis < 1) {
      throw new IllegalArgumentException(
          copyThreads + " copy threads and " + helloMillis + " ms for HELLO must be positive");
    }
  }

  /** What a configuration says, the rest by default. */
  static LocalLimits of(int sessions, SessionLimits each) {
    return new LocalLimits(
        sessions,
        each.queries(),
        each.queriesOfAll(),
        each.publishes(),
        each.commandBytes(),
        each.leases(),
        each.registrations(),
        each.registeredBytes(),
        DEFAULTS.copyThreads,
        DEFAULTS.helloMillis);
  }

  /** These limits with another number of sessions. */
  public LocalLimits withSessions(int newSessions) {
    return new LocalLimits(
        newSessions,
        queriesPerSession,
        queries,
        publishesPerSession,
        metadataBytes,
        leasesPerSession,
        registrationsPerSession,
        registeredBytes,
        copyThreads,
        helloMillis);
  }

  /** These limits with another time for HELLO. */
  public LocalLimits withHelloMillis(int newHelloMillis) {
    return new LocalLimits(
        sessions,
        queriesPerSession,
        queries,
        publishesPerSession,
        metadataBytes,
        leasesPerSession,
        registrationsPerSession,
        registeredBytes,
        copyThreads,
        newHelloMillis);
  }
}
