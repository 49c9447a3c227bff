package io.orbitkv.cli;

import io.orbitkv.adapter.ChannelConfig;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.config.MembershipKind;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

  private final RehearsalManagers managers;
  private final ThreadGroup group = new ThreadGroup("orbitkv-rehearsal");
  private final Thread thread = new Thread(group, this::run, "orbitkv-rehearsal");
  private volatile boolean over;

  private RehearsalAtStart(TransportProvider provider, List<OptionSpec> options) {
    managers = new RehearsalManagers(provider, options);
    thread.setDaemon(true);
  }

  /**
   * Begins one if it was asked for, would be of use, and the backend's effects are known.
   *
   * @param options the provider's
   */
  static RehearsalAtStart begin(
      ManagerConfiguration configuration, TransportProvider provider, List<OptionSpec> options) {
    RehearsalAtStart rehearsal = new RehearsalAtStart(provider, options);
    if (isOfUse(configuration)) {
      rehearsal.thread.start();
    }
    return rehearsal;
  }

  private static boolean isOfUse(ManagerConfiguration configuration) {
    return configuration.rehearsal()
        && configuration.membership() != MembershipKind.NONE
        // Nothing of this process may use another socket than the domain's.
        && ChannelConfig.ofProcess().isEmpty()
        && configuration.backend().equals(REHEARSED_BACKEND);
  }

  private void run() {
    // Not a static logger: every command would pay for the start of logging.
    Logger log = LoggerFactory.getLogger(RehearsalAtStart.class);
    long start = System.nanoTime();
    try {
      int fetches = rehearse();
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      log.info(
          "rehearsal {} after {} ms: {} fetches", over ? "cut short" : "ended", millis, fetches);
    } catch (IOException | RuntimeException e) {
      log.warn("rehearsal failed, so the first fetches are slower: {}", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int rehearse() throws IOException, InterruptedException {
    try (LogOutput.Silence _ = LogOutput.silence(group)) {
      return new Rehearsal(managers, () -> !over).run();
    }
  }

  /** Has it end soon. Does not wait. */
  void cutShort() {
    over = true;
  }

  /** Waits for its end, but not for long; whether it runs no code of the provider any more. */
  boolean awaitEnd() throws InterruptedException {
    return (!thread.isAlive() || thread.join(CUT_SHORT)) && managers.clean();
  }
}
