package io.orbitkv.manager.local;

import io.orbitkv.ffm.PidFd;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One attached process: the very one that its pidfd names, with its sessions. Guarded by {@link
 * Sessions}.
 */
final class EngineProcess {
  private final long pid;
  private final PidFd pidFd;
  private final Map<Long, LocalSession> sessions = new HashMap<>();

  /** Takes the pidfd over. */
  EngineProcess(long pid, PidFd pidFd) {
    this.pid = pid;
    this.pidFd = pidFd;
  }

  long pid() {
    return pid;
  }

  PidFd pidFd() {
    return pidFd;
  }

  Map<Long, LocalSession> sessions() {
    return sessions;
  }

  @Nullable LocalSession session(long token) {
    return sessions.get(token);
  }
}
