package io.orbitkv.cli;

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
 * {@link #cutShort}; a failure costs nothing but speed.
 */
final class RehearsalAtStart {
  /** Whose effects on this process are known. */
  private static final String REHEARSED_BACKEND = "orbitte-tcp";

  private static final Duration CUT_SHORT = Duration.ofSeconds(2);

  private final RehearsalManagers managers;
  private final Thread thread;
  private final LogOutput.Silence silence;
  private volatile boolean over;

  private RehearsalAtStart(TransportProvider provider, List<OptionSpec> options) {
    managers = new RehearsalManagers(provider, options);
    ThreadGroup group = new ThreadGroup("orbitkv-rehearsal");
    silence = LogOutput.silence(group);
    thread = new Thread(group, this::run, "orbitkv-rehearsal");
    thread.setDaemon(true);
  }

  /**
   * Begins one, unless it is switched off, would be of no use, or the backend's effects are
   * unknown.
   *
   * @param options the provider's
   */
  static RehearsalAtStart begin(
      ManagerConfiguration configuration, TransportProvider provider, List<OptionSpec> options) {
    RehearsalAtStart rehearsal = new RehearsalAtStart(provider, options);
    if (isOfUse(configuration)) {
      rehearsal.thread.start();
    } else {
      rehearsal.silence.close();
    }
    return rehearsal;
  }

  private static boolean isOfUse(ManagerConfiguration configuration) {
    return configuration.rehearsal()
        && configuration.membership() != MembershipKind.NONE
        && configuration.backend().equals(REHEARSED_BACKEND);
  }

  private void run() {
    long start = System.nanoTime();
    String outcome;
    try {
      int fetches = new Rehearsal(managers, () -> !over).run();
      outcome = fetches + " fetches";
    } catch (IOException | RuntimeException e) {
      outcome = "first fetches are slower: " + e.getMessage();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      outcome = "interrupted";
    } finally {
      silence.close();
    }
    // Not a static logger: every command would pay for the start of logging.
    Logger log = LoggerFactory.getLogger(RehearsalAtStart.class);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    log.info("rehearsal {} after {} ms: {}", over ? "cut short" : "ended", millis, outcome);
  }

  /** Has it end soon. Does not wait. */
  void cutShort() {
    over = true;
  }

  /** Waits for its end, but not for long; whether it runs no code of the provider any more. */
  boolean awaitEnd() throws InterruptedException {
    return !thread.isAlive() || thread.join(CUT_SHORT);
  }
}
