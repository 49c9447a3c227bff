package io.orbitkv.cli;

import io.orbitkv.adapter.ChannelConfig;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.config.MembershipKind;
import io.orbitkv.manager.plugin.LoadedProvider;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rehearsal of a Manager that has just started, beside it: the Manager serves meanwhile, and
 * nothing of the rehearsal is in its figures or its log. It ends by itself, or is cut short by
 * {@link #cutShort}; a failure costs speed only.
 */
final class RehearsalAtStart {
  /** Whose effects on this process are known. */
  private static final String REHEARSED_BACKEND = "orbitte-tcp";

  private static final Duration CUT_SHORT = Duration.ofSeconds(5);

  private final ThreadGroup group = new ThreadGroup("orbitkv-rehearsal");
  private @Nullable Thread thread;
  private volatile boolean over;

  private RehearsalAtStart() {}

  /** Begins one if it was asked for, would be of use, and the backend's effects are known. */
  static RehearsalAtStart begin(ManagerConfiguration configuration, LoadedProvider loaded) {
    RehearsalAtStart rehearsal = new RehearsalAtStart();
    if (isOfUse(configuration)) {
      rehearsal.start(new RehearsalManagers(loaded));
    }
    return rehearsal;
  }

  private void start(RehearsalManagers managers) {
    Thread rehearsing = new Thread(group, () -> run(managers), "orbitkv-rehearsal");
    rehearsing.setDaemon(true);
    try {
      rehearsing.start();
      thread = rehearsing;
    } catch (OutOfMemoryError e) {
      // No thread is to be had. The Manager serves, and goes on.
      managers.end();
      log().warn("no rehearsal, so the first fetches are slower: {}", e.toString());
    }
  }

  private static boolean isOfUse(ManagerConfiguration configuration) {
    return configuration.rehearsal()
        && configuration.membership() != MembershipKind.NONE
        // Nothing of this process may use another socket than the domain's.
        && ChannelConfig.ofProcess().isEmpty()
        && configuration.backend().equals(REHEARSED_BACKEND);
  }

  private void run(RehearsalManagers managers) {
    long start = System.nanoTime();
    try {
      int fetches = rehearse(managers);
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      log()
          .info(
              "rehearsal {} after {} ms: {} fetches",
              over ? "cut short" : "ended",
              millis,
              fetches);
    } catch (CommandException | IOException | RuntimeException e) {
      log().warn("rehearsal failed, so the first fetches are slower: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int rehearse(RehearsalManagers managers)
      throws CommandException, IOException, InterruptedException {
    try (LogOutput.Silence _ = LogOutput.silence(group)) {
      return new Rehearsal(managers, () -> !over).run();
    }
  }

  /** Has it end soon. Does not wait. */
  void cutShort() {
    over = true;
  }

  /** Waits for its end, but not for long; what goes on then has its own use of the provider. */
  void awaitEnd() throws InterruptedException {
    Thread rehearsing = thread;
    if (rehearsing != null) {
      var _ = rehearsing.join(CUT_SHORT);
    }
  }

  // Not a static logger: every command would pay for the start of logging.
  private static Logger log() {
    return LoggerFactory.getLogger(RehearsalAtStart.class);
  }
}
