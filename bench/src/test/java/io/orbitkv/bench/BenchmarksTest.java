package io.orbitkv.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Collection;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** The benchmarks of single pieces run; their figures here mean nothing. */
class BenchmarksTest {
  @TempDir private Path directory = Path.of("");

  @Test
  void everyBenchmarkRunsOnce() throws Exception {
    System.setProperty("jmh.ignoreLock", "true");
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .include("io\\.orbitkv\\..*Benchmark\\..*")
                    .forks(0)
                    .warmupIterations(0)
                    .measurementIterations(1)
                    .measurementTime(TimeValue.milliseconds(20))
                    .shouldFailOnError(true)
                    .output(directory.resolve("jmh.log").toString())
                    .build())
            .run();

    assertThat(
            results.stream()
                .map(result -> result.getParams().getBenchmark())
                .map(name -> name.replaceAll(".*\\.(\\w+)Benchmark\\.", "$1."))
                .collect(Collectors.toSet()))
        .containsExactlyInAnyOrder(
            "ReadFrame.encode",
            "ReadFrame.decode",
            "GrantCheck.findEnterAndLeave",
            "Catalog.locate",
            "Catalog.holdAndEnd",
            "Catalog.miss",
            "DescriptorSplit.plan",
            "Names.encode",
            "Names.decode");
  }
}
