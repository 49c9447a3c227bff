package io.orbitkv.tck;

/** The suites that {@link TckRun} can run. */
public enum Suite {
  /** Probe, open, quiesce, close. */
  LIFECYCLE(LaunchedSuites.Lifecycle.class),
  /** Registrations. */
  REGISTRATION(LaunchedSuites.Registration.class),
  /** Bytes. */
  TRANSFER(LaunchedSuites.Transfer.class),
  /** Outcomes. */
  TICKET(LaunchedSuites.Ticket.class),
  /** Receipts. */
  DRAIN(LaunchedSuites.Drain.class),
  /** Incarnations and requesters. */
  EPOCH(LaunchedSuites.Epoch.class),
  /** Revocation. */
  REVOKE(LaunchedSuites.Revoke.class),
  /** Links that break and stand still. */
  FAULT(LaunchedSuites.Fault.class),
  /** Races. */
  CONCURRENCY(LaunchedSuites.Concurrency.class),
  /** Full budgets. */
  BACKPRESSURE(LaunchedSuites.Backpressure.class),
  /** What the provider says of itself. */
  CAPABILITY_TRUTH(LaunchedSuites.CapabilityTruth.class),
  /** The plugin. */
  PLUGIN_PACKAGING(LaunchedSuites.PluginPackaging.class);

  private final Class<? extends ProviderTck> tests;

  Suite(Class<? extends ProviderTck> tests) {
    this.tests = tests;
  }

  Class<? extends ProviderTck> tests() {
    return tests;
  }

  /** The name for people: that of the abstract class without {@code Tck}. */
  public String title() {
    return tests.getSimpleName();
  }
}
