package io.orbitkv.manager.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.manager.restore.ClaimWorld.Client;
import io.orbitkv.tck.explore.Exploration;
import io.orbitkv.tck.explore.Explorer;
import io.orbitkv.tck.explore.WorldModel;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every order of the steps of a claim and its record; and that the search finds each lost rule. */
class ClaimExplorationTest {
  private static final int MOST_STATES = 200_000;

  @Test
  void everyRuleIsKept() {
    Exploration found = explore(null);
    System.out.println("claim, all rules on:\n" + found.text());
    assertThat(found.problem()).as(found.text()).isNull();
    assertThat(found.states()).isGreaterThan(2_000);
  }

  /** Guards: the rule itself, broken in memory, barriers or driver. */
  @ParameterizedTest
  @EnumSource(ClaimRule.class)
  void aLostRuleIsFound(ClaimRule rule) {
    Exploration found = explore(rule);
    System.out.println("claim, without " + rule + " (" + rule.text + "):\n" + found.text());
    assertThat(found.problem()).as(found.text()).startsWith(expected(rule));
  }

  private static String expected(ClaimRule rule) {
    return switch (rule) {
      case FAILED_ON_BACK_OFF -> "STUCK";
      case MEMBARRIER_BEFORE_GRANT -> "WRONG";
      default -> "UNSAFE";
    };
  }

  private static Exploration explore(@Nullable ClaimRule off) {
    List<Supplier<ClaimWorld>> starts =
        Arrays.stream(Client.values())
            .map(client -> (Supplier<ClaimWorld>) () -> new ClaimWorld(client, off))
            .toList();
    return Explorer.explore(new WorldModel(starts), MOST_STATES);
  }
}
