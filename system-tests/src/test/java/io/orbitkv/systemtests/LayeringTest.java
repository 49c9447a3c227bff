package io.orbitkv.systemtests;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Dependencies point one way, and names say what a class is. Reads the compiled modules. */
class LayeringTest {
  private static final String API = "io.orbitkv.api..";
  private static final String FFM = "io.orbitkv.ffm..";
  private static final String ADAPTER = "io.orbitkv.adapter..";
  private static final String MANAGER = "io.orbitkv.manager..";
  private static final String PROVIDERS = "io.orbitkv.provider..";
  private static final String CLI = "io.orbitkv.cli..";
  private static final String TCK = "io.orbitkv.tck..";
  private static final String BENCH = "io.orbitkv.bench..";

  private static final String JDK = "java..";
  // Annotations: they need no jar at run time.
  private static final String JSPECIFY = "org.jspecify.annotations..";

  private static final String EMPTY_NAME =
      ".*[.$](\\w*(Impl|Utils?|Helpers?|Manager2)|Base([A-Z]\\w*)?)";

  private static JavaClasses modules;

  @BeforeAll
  static void readModules() throws IOException {
    Path root = Path.of(System.getProperty("orbitkv.root", "..")).toRealPath();
    List<Path> compiled = new ArrayList<>();
    for (String module : List.of("api", "ffm", "tck", "adapter", "manager", "bench", "cli")) {
      compiled.add(root.resolve(module).resolve("target/classes"));
    }
    try (Stream<Path> providers = Files.list(root.resolve("providers"))) {
      providers.map(provider -> provider.resolve("target/classes")).forEach(compiled::add);
    }
    assertThat(compiled).hasSizeGreaterThan(5).allSatisfy(path -> assertThat(path).isDirectory());
    modules = new ClassFileImporter().importPaths(compiled);
  }

  @Test
  void apiDependsOnTheJdkOnly() {
    check(only(API, API, JDK, JSPECIFY));
  }

  @Test
  void ffmDependsOnTheJdkOnly() {
    check(only(FFM, FFM, JDK, JSPECIFY));
  }

  @Test
  void adapterDependsOnApiAndFfmOnly() {
    check(only(ADAPTER, ADAPTER, API, FFM, JDK, JSPECIFY));
  }

  @Test
  void providersDependOnApiFfmAndLoggingOnly() {
    check(only(PROVIDERS, PROVIDERS, API, FFM, "org.slf4j..", JDK, JSPECIFY));
  }

  @Test
  void kitDependsOnApiFfmAndTestLibrariesOnly() {
    check(
        only(
            TCK, TCK, API, FFM, "org.junit..", "org.assertj..", "org.opentest4j..", JDK, JSPECIFY));
  }

  @Test
  void benchDrivesAnyProviderAndKnowsNone() {
    check(
        only(
            BENCH,
            BENCH,
            API,
            FFM,
            ADAPTER,
            "com.google.gson..",
            "org.HdrHistogram..",
            "io.grpc..",
            JDK,
            JSPECIFY));
  }

  @Test
  void kitIsUsedByTheCommandOnly() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackages(TCK, CLI)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(TCK));
  }

  @Test
  void managerIsUsedByTheCommandOnly() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackages(MANAGER, CLI)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(MANAGER));
  }

  @Test
  void nothingDependsOnTheCommand() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage(CLI)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(CLI));
  }

  @Test
  void managerKnowsNoProvider() {
    check(
        noClasses()
            .that(resideInAnyPackage(MANAGER, CLI, ADAPTER))
            .should()
            .dependOnClassesThat()
            .resideInAPackage(PROVIDERS));
  }

  @Test
  void nativeFunctionsAreCalledFromFfmOnly() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage(FFM)
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(Linker.class, SymbolLookup.class));
  }

  @Test
  void namesSayWhatAClassIs() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackage("io.orbitkv.manager.control.proto..")
            .should()
            .haveNameMatching(EMPTY_NAME));
  }

  private static ArchRule only(String module, String... allowed) {
    return classes()
        .that(resideInAPackage(module))
        .should()
        .onlyDependOnClassesThat(resideInAnyPackage(allowed));
  }

  private static void check(ArchRule rule) {
    rule.check(modules);
  }
}
