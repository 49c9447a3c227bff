package io.orbitkv.manager;

import io.orbitkv.api.TransportException;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.memory.Hold;
import io.orbitkv.manager.memory.HoldKind;
import io.orbitkv.manager.memory.Pool;
import io.orbitkv.manager.transfer.DrainCoordinator;
import io.orbitkv.manager.transfer.RemotePeers;
import io.orbitkv.manager.transfer.Tickets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a Manager: its steps, of which one that fails keeps none of the others from being
 * taken; the wait for the drain; and the release of the memory, only if nothing holds it. For one
 * thread.
 */
final class Withdrawal {
  private static final Logger LOG = LoggerFactory.getLogger(Withdrawal.class);

  private final ManagerConfiguration configuration;
  private final Pool pool;
  private final Engine engine;
  private final List<String> held = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  Withdrawal(ManagerConfiguration configuration, Pool pool, Engine engine) {
    this.configuration = configuration;
    this.pool = pool;
    this.engine = engine;
  }

  /** Takes a step; what it throws is logged, and is in the report. */
  void step(String what, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      // The stack is for whoever made the provider; the line is for the report.
      LOG.debug("shutdown: {} failed", what, e);
      failures.add(what + " failed: " + ProviderFault.text(e));
    }
  }

  void sayWhatIsAwaited() {
    List<String> awaited = heldByProvider();
    if (!awaited.isEmpty()) {
      LOG.info(
          "shutdown: waits at most {} ms for {} holds, first of all {}; a second signal gives them up",
          configuration.sourceCloseDeadline().toMillis(),
          awaited.size(),
          awaited.getFirst());
    }
  }

  void awaitDrain(Tickets tickets, RemotePeers peers, DrainCoordinator coordinator, long deadline) {
    try {
      // A ticket that has not settled is not known to the coordinator yet.
      boolean idle =
          tickets.awaitDrained(
              deadline - configuration.sourceCloseDeadline().dividedBy(2).toNanos());
      if (!idle) {
        // Ends the connections: a thread that is stuck in a destination leaves in time to prove it.
        peers.close();
        idle = tickets.awaitDrained(deadline);
      }
      if (!coordinator.awaitIdle(deadline) || !idle) {
        LOG.warn("shutdown: waited in vain for the receipts of {}", heldByProvider());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Unregisters and unmaps, if the provider can touch nothing any more. */
  void release() {
    held.addAll(heldByProvider());
    if (!held.isEmpty()) {
      return;
    }
    try {
      engine.close();
    } catch (RuntimeException | LinkageError e) {
      held.add(String.valueOf(ProviderFault.of(engine.backend(), "close()", e).getMessage()));
      return;
    }
    try {
      pool.close();
    } catch (TransportException e) {
      // Leases, and copies that still fill: mappings stay valid until exit, and nothing is reused.
      LOG.debug("arenas stay mapped until exit: {}", e.getMessage());
    }
  }

  ShutdownReport report() {
    return new ShutdownReport(held, failures);
  }

  /** Whoever the ledger says may still have its memory touched through the provider. */
  private List<String> heldByProvider() {
    Set<String> holders = new LinkedHashSet<>();
    for (Hold hold : pool.holds()) {
      if (hold.kind() == HoldKind.DESTINATION || hold.kind() == HoldKind.SOURCE) {
        holders.add(hold.holder() + " waits for " + hold.kind().endedBy());
      }
    }
    return new ArrayList<>(holders);
  }
}
