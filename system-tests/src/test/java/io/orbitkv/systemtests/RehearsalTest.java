package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.systemtests.rig.Await;
import io.orbitkv.systemtests.rig.Command;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The fetches that a Manager rehearses in its own process once it serves. */
class RehearsalTest {
  private static final Duration REHEARSED = Duration.ofSeconds(60);
  private static final Duration ENDED = Duration.ofSeconds(20);

  @RegisterExtension private final Rig rig = new Rig();

  @Test
  void leavesNoTraceInTheFiguresTheLogAndTheFileSystem() {
    ManagerProcess manager = rig.manager("a", "--rehearsal", "on");
    Await.until(
        "the rehearsal ends",
        REHEARSED,
        () -> manager.log().contains(" RehearsalAtStart: "),
        manager::log);

    assertThat(manager.log())
        .containsPattern("rehearsal ended after \\d+ ms: [1-9]\\d* fetches")
        .containsOnlyOnce("manager serves")
        .doesNotContain("shutdown", "WARN", "ERROR");
    Status status = manager.status();
    for (String counter :
        List.of(
            "catalog.blocks",
            "catalog.published_blocks",
            "reads.peer_blocks",
            "reads.missed_blocks",
            "tickets.submitted")) {
      assertThat(status.number(counter)).as(counter).isZero();
    }
    assertThat(status.json().getAsJsonArray("peers")).isEmpty();
    assertThat(status.leftovers()).isEmpty();
    assertThat(directories(manager)).isEmpty();
  }

  @Test
  void isCutShortByAnOrderlyEnd() {
    ManagerProcess manager = rig.manager("a", "--rehearsal", "on");
    Await.until("it has begun", ENDED, () -> !directories(manager).isEmpty(), manager::log);

    assertThat(manager.terminate(ENDED)).as(manager.log()).isZero();

    assertThat(manager.log())
        .containsPattern("rehearsal cut short after \\d+ ms: \\d+ fetches")
        .doesNotContain(": 400 fetches", "stays loaded");
    assertThat(directories(manager)).isEmpty();
  }

  @Test
  void isSwitchedByOneOfTwoWords() {
    Command command = rig.run("manager", "--rehearsal", "later");

    assertThat(command.exit()).isEqualTo(2);
    assertThat(command.err())
        .isEqualTo("orbitkv: --rehearsal: 'later' is not one of on, off; write one of them\n");
  }

  private static List<Path> directories(ManagerProcess manager) {
    String prefix = "orbitkv-rehearsal-" + manager.pid() + "-";
    try (Stream<Path> files = Files.list(Path.of("/tmp"))) {
      return files.filter(file -> file.getFileName().toString().startsWith(prefix)).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
