package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.tck.template.TemplateProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The template of docs/writing-a-provider.md is a provider, and the page shows that very code. */
class TemplateTest {
  private static final Path DOC = Path.of("../docs/writing-a-provider.md");
  private static final Path SOURCES = Path.of("src/main/java/io/orbitkv/tck/template");
  private static final Pattern BLOCK =
      Pattern.compile("```java\\n(package .*?)```", Pattern.DOTALL);

  @Test
  void templatePassesTheKit() {
    String none = "bytes that never leave the process can not be stopped on the way";
    TckReport report =
        TckRun.run(
            new ProviderFixture() {
              @Override
              public TransportProvider provider() {
                return new TemplateProvider();
              }

              @Override
              public Map<Behaviour, String> declined() {
                return EnumSet.of(
                        Behaviour.STALL, Behaviour.CUT, Behaviour.SUCCESSOR, Behaviour.PACKAGE)
                    .stream()
                    .collect(Collectors.toMap(each -> each, _ -> none));
              }
            });
    assertThat(report.rows(TckRow.Result.FAILED)).isEmpty();
    assertThat(report.count(TckRow.Result.PASSED)).isGreaterThan(55);
  }

  @Test
  void pageShowsTheSourcesWordForWord() throws IOException {
    List<String> shown =
        BLOCK.matcher(Files.readString(DOC)).results().map(MatchResult::group).toList();
    Set<String> blocks =
        shown.stream()
            .map(block -> block.replaceFirst("```java\\n", "").replaceFirst("```$", ""))
            .collect(Collectors.toSet());
    try (Stream<Path> files = Files.list(SOURCES)) {
      for (Path file : files.filter(path -> !path.endsWith("package-info.java")).toList()) {
        // Mend it by copying the file into the page.
        assertThat(blocks).as("%s as a block of %s", file, DOC).contains(Files.readString(file));
      }
    }
    assertThat(blocks).hasSize(7);
  }
}
