package io.orbitkv.adapter;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * How a client introduces itself, whom it trusts and how long it waits. Immutable.
 *
 * @param instance the engine instance that this process belongs to; 1 to {@value
 *     #MAX_INSTANCE_BYTES} bytes of UTF-8
 * @param role what this process is in it
 * @param timeout how long connecting and the control calls (allocate, ping, status, close) wait for
 *     the Manager; positive
 * @param managerUid the only user whose process may be behind the socket; {@link #OWN_USER_OR_ROOT}
 *     for this process's own or root
 */
public record ClientOptions(String instance, Role role, Duration timeout, int managerUid) {
  /** Longest instance id, bytes of UTF-8. */
  public static final int MAX_INSTANCE_BYTES = 64;

  /** Stands for this process's own user and root. */
  public static final int OWN_USER_OR_ROOT = -1;

  /** A tool named after its process id, with a timeout of 10 s. */
  public static final ClientOptions DEFAULTS =
      new ClientOptions(
          "process-" + ProcessHandle.current().pid(),
          Role.TOOL,
          Duration.ofSeconds(10),
          OWN_USER_OR_ROOT);

  /** Checks the bounds; {@link IllegalArgumentException} if one is left. */
  public ClientOptions {
    int bytes = instance.getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes > MAX_INSTANCE_BYTES) {
      throw new IllegalArgumentException(
          "instance id of " + bytes + " bytes; allowed are 1 to " + MAX_INSTANCE_BYTES);
    }
    if (timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException("client timeout " + timeout + " must be positive");
    }
    if (managerUid < OWN_USER_OR_ROOT) {
      throw new IllegalArgumentException("user " + managerUid + " of the Manager is not a user id");
    }
  }

  /** These options with another instance id. */
  public ClientOptions withInstance(String newInstance) {
    return new ClientOptions(newInstance, role, timeout, managerUid);
  }

  /** These options with another role. */
  public ClientOptions withRole(Role newRole) {
    return new ClientOptions(instance, newRole, timeout, managerUid);
  }

  /** These options with another timeout. */
  public ClientOptions withTimeout(Duration newTimeout) {
    return new ClientOptions(instance, role, newTimeout, managerUid);
  }

  /** These options with another user of the Manager. */
  public ClientOptions withManagerUid(int newManagerUid) {
    return new ClientOptions(instance, role, timeout, newManagerUid);
  }
}
