package io.orbitkv.manager.local;

import io.orbitkv.manager.config.ManagerConfiguration;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Whom the same-host channel admits, how many, and how it ends. Immutable.
 *
 * @param mode permission bits of the socket's file, such as 0600
 * @param owner user who owns its file, and is admitted; empty for this process's own
 * @param group group of its file, whose members are admitted; empty for nobody else
 * @param users further users who are admitted, beside this process's own
 * @param limits what is admitted at once
 * @param stopWithin how long {@link LocalServer#stop()} waits for outstanding answers
 */
public record LocalOptions(
    int mode,
    OptionalInt owner,
    OptionalInt group,
    Set<Long> users,
    LocalLimits limits,
    Duration stopWithin) {
  /** This process's user only, default limits, 5 s to stop. */
  public static final LocalOptions DEFAULTS =
      new LocalOptions(
          0600,
          OptionalInt.empty(),
          OptionalInt.empty(),
          Set.of(),
          LocalLimits.DEFAULTS,
          Duration.ofSeconds(5));

  private static final int PERMISSIONS = 0777;

  /** Copies the set; {@link IllegalArgumentException} if the mode has other bits. */
  public LocalOptions {
    users = Set.copyOf(users);
    if ((mode & ~PERMISSIONS) != 0) {
      throw new IllegalArgumentException(
          "socket mode 0" + Integer.toOctalString(mode) + " has bits beside 0777");
    }
  }

  /** What a configuration says, the rest by default. */
  public static LocalOptions of(ManagerConfiguration configuration) {
    return new LocalOptions(
        configuration.socketMode(),
        configuration.socketOwner(),
        configuration.socketGroup(),
        configuration.allowedUids(),
        LocalLimits.of(configuration.sessions(), configuration.sessionLimits()),
        DEFAULTS.stopWithin);
  }

  /** These options with another file mode, owner and group of the socket, and further users. */
  public LocalOptions withAccess(
      int newMode, OptionalInt newOwner, OptionalInt newGroup, Set<Long> newUsers) {
    return new LocalOptions(newMode, newOwner, newGroup, newUsers, limits, stopWithin);
  }

  /** These options with other limits. */
  public LocalOptions withLimits(LocalLimits newLimits) {
    return new LocalOptions(mode, owner, group, users, newLimits, stopWithin);
  }

  /** These options with another time to stop. */
  public LocalOptions withStopWithin(Duration newStopWithin) {
    return new LocalOptions(mode, owner, group, users, limits, newStopWithin);
  }
}
