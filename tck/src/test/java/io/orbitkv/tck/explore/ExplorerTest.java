package io.orbitkv.tck.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What the explorer finds in a model whose states can be counted by hand. */
class ExplorerTest {
  /** A door with a key: locked or open, the key here, in the lake, or lost for good. */
  private record Door(boolean open, String key) {}

  /** Each flag adds one way to go wrong. */
  private record DoorModel(boolean lake, boolean wind, boolean sink) implements Model<Door> {
    @Override
    public List<Door> initial() {
      return List.of(new Door(false, "here"));
    }

    @Override
    public List<Step<Door>> steps(Door door) {
      List<Step<Door>> steps = new ArrayList<>();
      if (!door.open && door.key.equals("here")) {
        steps.add(new Step<>("unlock", false, new Door(true, "here")));
      }
      if (door.open) {
        steps.add(new Step<>("lock", false, new Door(false, door.key)));
      }
      if (lake && door.key.equals("here")) {
        steps.add(new Step<>("drop the key", false, new Door(door.open, "in the lake")));
      }
      if (wind && door.key.equals("in the lake")) {
        steps.add(new Step<>("a fish brings it", true, new Door(door.open, "here")));
      }
      if (sink && door.key.equals("in the lake")) {
        steps.add(new Step<>("it sinks", false, new Door(door.open, "lost")));
      }
      return steps;
    }

    @Override
    public @Nullable String broken(Door door) {
      return door.key.equals("lost") && door.open ? "WRONG: open for ever" : null;
    }

    @Override
    public boolean ended(Door door) {
      return door.open;
    }
  }

  @Test
  void safeAndLiveModelIsVisitedAsAWhole() {
    Exploration found = Explorer.explore(new DoorModel(false, false, false), 10);
    assertThat(found).isEqualTo(new Exploration(2, null, List.of()));
    assertThat(found.text()).contains("safe and live, 2 states");
  }

  @Test
  void brokenStateIsFoundByAShortestTrace() {
    Exploration found = Explorer.explore(new DoorModel(true, false, true), 10);
    assertThat(found.problem()).isEqualTo("WRONG: open for ever");
    assertThat(found.trace()).hasSize(3).contains("unlock", "drop the key").endsWith("it sinks");
  }

  @Test
  void faultIsNoWayOut() {
    // Guard: the test for a fault in Explorer.search; with the fish counted this is live.
    Exploration found = Explorer.explore(new DoorModel(true, true, false), 10);
    assertThat(found.problem()).isEqualTo(Exploration.STUCK);
    assertThat(found.trace()).containsExactly("drop the key");
    assertThat(found.states()).isEqualTo(4);
  }

  @Test
  void moreStatesThanTheBoundIsADefectOfTheModel() {
    assertThatThrownBy(() -> Explorer.explore(new DoorModel(true, false, false), 3))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("more than 3 states");
  }
}
