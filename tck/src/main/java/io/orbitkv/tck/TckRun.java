package io.orbitkv.tck;

import io.orbitkv.api.spi.TransportProvider;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherConstants;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs suites of the kit in this process, without a build tool. */
public final class TckRun {
  private TckRun() {}

  /**
   * Runs suites, one test at a time, in the calling thread.
   *
   * @param fixture the provider under test
   * @param suites which
   * @param ended is told of every test when it has ended
   */
  public static TckReport run(
      ProviderFixture fixture, Collection<Suite> suites, Consumer<TckRow> ended) {
    TransportProvider provider = fixture.provider();
    String key = LentFixture.lend(fixture);
    try {
      Listener listener = new Listener(ended);
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(
                      suites.stream()
                          .map(suite -> DiscoverySelectors.selectClass(suite.tests()))
                          .toList())
                  .configurationParameter(LentFixture.KEY, key)
                  .configurationParameter(
                      LauncherConstants.STACKTRACE_PRUNING_ENABLED_PROPERTY_NAME, "false")
                  .configurationParameter("junit.jupiter.execution.parallel.enabled", "false")
                  .build(),
              listener);
      return new TckReport(
          provider.name(), provider.version(), provider.spiVersion(), listener.rows);
    } finally {
      LentFixture.takeBack(key);
    }
  }

  /** Runs all suites. */
  public static TckReport run(ProviderFixture fixture) {
    return run(fixture, List.of(Suite.values()), _ -> {});
  }

  private static final class Listener implements TestExecutionListener {
    private final Consumer<TckRow> ended;
    private final List<TckRow> rows = new ArrayList<>();
    private final Map<TestIdentifier, Long> started = new ConcurrentHashMap<>();
    private @org.jspecify.annotations.Nullable TestPlan plan;

    Listener(Consumer<TckRow> ended) {
      this.ended = ended;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan running) {
      plan = running;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
      started.put(test, System.nanoTime());
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
      // Only a fixture can decline, and it does so inside the test.
      add(test, TckRow.Result.FAILED, "skipped without a declared reason: " + reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      Throwable cause = result.getThrowable().orElse(null);
      switch (result.getStatus()) {
        case SUCCESSFUL -> {
          if (test.isTest()) {
            add(test, TckRow.Result.PASSED, "");
          }
        }
        case ABORTED ->
            add(
                test,
                cause instanceof DeclinedException ? TckRow.Result.SKIPPED : TckRow.Result.FAILED,
                line(cause));
        case FAILED -> add(test, TckRow.Result.FAILED, line(cause));
      }
    }

    private void add(TestIdentifier test, TckRow.Result result, String reason) {
      long begun = started.getOrDefault(test, System.nanoTime());
      TckRow row = new TckRow(suite(test), name(test), result, reason, System.nanoTime() - begun);
      rows.add(row);
      ended.accept(row);
    }

    private String suite(TestIdentifier test) {
      TestPlan running = plan;
      TestIdentifier top = test;
      while (running != null) {
        TestIdentifier parent = running.getParent(top).orElse(null);
        if (parent == null || running.getParent(parent).isEmpty()) {
          break;
        }
        top = parent;
      }
      return top.getDisplayName().replaceFirst(".*[$.]", "");
    }

    private String name(TestIdentifier test) {
      TestPlan running = plan;
      TestIdentifier parent = running == null ? null : running.getParent(test).orElse(null);
      String own = test.getDisplayName().replace("()", "");
      // An invocation of a parameterized test has only its argument as a name.
      return parent != null && parent.getUniqueId().contains("[test-template:")
          ? parent.getDisplayName().replaceAll("\\(.*", "") + " " + own
          : own;
    }

    private static String line(@org.jspecify.annotations.Nullable Throwable cause) {
      if (cause == null) {
        return "no reason was given";
      }
      boolean told = cause instanceof AssertionError || cause instanceof DeclinedException;
      String text = told ? String.valueOf(cause.getMessage()) : cause.toString();
      return text.strip().replaceAll("\\s+", " ");
    }
  }
}
