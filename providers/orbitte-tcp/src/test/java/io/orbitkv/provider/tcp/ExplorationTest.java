package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.tck.explore.Exploration;
import io.orbitkv.tck.explore.Explorer;
import io.orbitkv.tck.explore.World;
import io.orbitkv.tck.explore.WorldModel;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The rules of both halves of a READ, explored exhaustively on the real classes: with all of them
 * every reachable state is safe and can end; without any one something is found.
 */
class ExplorationTest {
  private static final int MOST_STATES = 60_000;

  private static Exploration explore(String title, List<Supplier<World>> starts) {
    Exploration found = Explorer.explore(new WorldModel(starts), MOST_STATES);
    System.out.println(title + "\n" + found.text());
    return found;
  }

  @Test
  void sourceIsSafeAndLive() {
    // Guard: each of Gate, TcpSourceHold and GrantTable that a mutant below lacks.
    Exploration found = explore("source, all rules", ExploredRule.source(null));
    assertThat(found.problem()).as("%s", found.trace()).isNull();
    assertThat(found.states()).isGreaterThan(20_000);
  }

  @Test
  void destinationIsSafeAndLive() {
    Exploration found = explore("destination, all rules", ExploredRule.destination(null));
    assertThat(found.problem()).as("%s", found.trace()).isNull();
    assertThat(found.states()).isGreaterThan(3_000);
  }

  @Test
  void gateThatIsReplacedByOneThatIsRightIsSafe() {
    // So what the mutants below show is theirs, and not the loader's.
    Exploration found =
        explore(
            "source, an honest gate in place of the real one",
            List.of(
                ExploredLoader.worlds(
                    ExploredSource.class, ExploredGates.Honest.class, "", "COPY", 1)));
    assertThat(found.problem()).as("%s", found.trace()).isNull();
  }

  @Test
  void repliesInOrderAreSafeEvenIfIdsRepeat() {
    // A lane takes only the next reply that is due. Ids that are used once are its second guard,
    // and the only one of a lane that looks replies up.
    String rule = ExploredRule.IDS_USED_ONCE.key();
    Exploration found =
        explore(
            "destination, in order, ids repeat",
            List.of(ExploredLoader.worlds(ExploredDestination.class, null, rule, true, 1, false)));
    assertThat(found.problem()).as("%s", found.trace()).isNull();
  }

  static Stream<ExploredRule> source() {
    return Stream.of(ExploredRule.values())
        .filter(rule -> rule.half != ExploredRule.Half.DESTINATION);
  }

  static Stream<ExploredRule> destination() {
    return Stream.of(ExploredRule.values()).filter(rule -> rule.half != ExploredRule.Half.SOURCE);
  }

  @ParameterizedTest
  @MethodSource("source")
  void sourceWithoutTheRuleIsFound(ExploredRule rule) {
    check("source", rule, ExploredRule.source(rule));
  }

  @ParameterizedTest
  @MethodSource("destination")
  void destinationWithoutTheRuleIsFound(ExploredRule rule) {
    check("destination", rule, ExploredRule.destination(rule));
  }

  private static void check(String half, ExploredRule rule, List<Supplier<World>> starts) {
    Exploration found = explore(half + " without " + rule.key() + " (" + rule.words + ")", starts);
    assertThat(found.problem()).as("without %s", rule.key()).isNotNull().startsWith(rule.finding);
  }
}
