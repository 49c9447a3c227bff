package io.orbitkv.manager.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.tck.explore.Exploration;
import io.orbitkv.tck.explore.Explorer;
import io.orbitkv.tck.explore.WorldModel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every order of the steps of a promise; and that the search finds each lost rule. */
class PromiseExplorationTest {
  private static final int MOST_STATES = 400_000;

  @Test
  void everyRuleIsKept() {
    Exploration found = explore(null);
    System.out.println("promise, all rules on:\n" + found.text());
    assertThat(found.problem()).as(found.text()).isNull();
    assertThat(found.states()).isGreaterThan(2_000);
  }

  /** Guards: the rule itself, broken in memory or driver. */
  @ParameterizedTest
  @EnumSource(PromiseRule.class)
  void aLostRuleIsFound(PromiseRule rule) {
    Exploration found = explore(rule);
    System.out.println("promise, without " + rule + " (" + rule.text + "):\n" + found.text());
    assertThat(found.problem()).as(found.text()).startsWith(expected(rule));
  }

  private static String expected(PromiseRule rule) {
    return switch (rule) {
      case NO_EXPIRY -> "WRONG";
      case LOCAL_CANCEL -> "STUCK";
      default -> "UNSAFE";
    };
  }

  private static Exploration explore(@Nullable PromiseRule off) {
    // Host copies, and device copies, which outlive their process; the lost rules need no device.
    List<Supplier<PromiseWorld>> starts = new ArrayList<>();
    starts.add(() -> new PromiseWorld(false, off));
    if (off == null) {
      starts.add(() -> new PromiseWorld(true, null));
    }
    return Explorer.explore(new WorldModel(starts), MOST_STATES);
  }
}
