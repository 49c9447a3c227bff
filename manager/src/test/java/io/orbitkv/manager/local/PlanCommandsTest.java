package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Role;
import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.ReadEntry;
import io.orbitkv.adapter.wire.RestoreRequest;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.manager.Manager;
import io.orbitkv.manager.plan.Site;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands of plans as they are on the wire. */
@Timeout(120)
class PlanCommandsTest {
  private static final long DEADLINE = TimeUnit.SECONDS.toNanos(20);
  private static final byte[] NONE = new byte[0];
  private static final long PROMISE_TO_ONE = 4 | 1 << 8;

  @TempDir private Path folder;

  private static FaultCode fault(Command answer) {
    assertThat(answer.opcode()).isEqualTo(Opcode.REFUSAL.wire());
    return FaultCode.ofWire((int) answer.scalar0());
  }

  private static void assertAnswer(Command answer, Opcode opcode, long scalar0) {
    assertThat(answer.opcode()).isEqualTo(opcode.wire());
    assertThat(answer.scalar0()).isEqualTo(scalar0);
  }

  // Guard: the map of operations in SessionPlans.restore. Without it the repeated one is refused,
  // and the engine that did not hear the first answer has a plan that it does not know of.
  @Test
  void aRestoreThatIsAskedForAgainIsTheSamePlan() {
    Path socket = folder.resolve("m.sock");
    Manager manager = Site.manager(socket);
    try (ManagerClient client = Site.client(socket, Role.TOOL);
        Channel channel = Channel.open(socket)) {
      Site.publish(client, 0, 2, Site.BLOCK);
      byte[] names = Names.encode(Site.names(2));
      channel.sendCommand(Opcode.QUERY, 1, names, DEADLINE, 0);
      Taken found = channel.nextAnswer();
      long lease = found.command().scalar0();
      List<Long> generations = new ArrayList<>();
      for (ReadEntry entry : ReadEntry.decode(new Cursor("answer", found.descriptor()))) {
        generations.add(entry.generation());
      }
      // What is refused leaves the lease as it was.
      byte[] stranger =
          new RestoreRequest(DEADLINE, 1, List.of(generations.getFirst(), 1L)).encode();
      assertThat(fault(channel.command(Opcode.RESTORE, 2, stranger, lease, 77)))
          .isEqualTo(FaultCode.NOT_FOUND);
      byte[] restore = new RestoreRequest(DEADLINE, 1, generations).encode();
      assertThat(fault(channel.command(Opcode.RESTORE, 3, restore, lease, 0)))
          .isEqualTo(FaultCode.INVALID);

      Command first = channel.command(Opcode.RESTORE, 4, restore, lease, 77);
      assertThat(first.opcode()).isEqualTo(Opcode.PLAN.wire());
      Command again = channel.command(Opcode.RESTORE, 5, restore, lease, 77);
      assertAnswer(again, Opcode.PLAN, first.scalar0());
      assertThat(again.scalar1()).isEqualTo(first.scalar1());
      assertThat(Site.planHolds(client)).isEqualTo(2);
      assertThat(Site.openPlans(client)).isEqualTo(1);

      assertThat(fault(channel.command(Opcode.RESTORE, 6, restore, lease, 78)))
          .as("its lease is used up")
          .isEqualTo(FaultCode.NOT_FOUND);
      assertAnswer(
          channel.command(Opcode.CANCEL_PLAN, 7, NONE, first.scalar0(), first.scalar1()),
          Opcode.CANCEL_PLAN_ANSWER,
          1);
      Command late = channel.command(Opcode.RESTORE, 8, restore, lease, 77);
      assertThat(late.scalar1()).as("also when it has ended").isEqualTo(first.scalar1());
      assertThat(Site.planHolds(client)).isZero();
    } finally {
      manager.shutdown();
    }
  }

  // Guard: SessionPlans.neverTold behind a revision. Without it nobody knows the plan's name, and
  // its block stays pinned until this process has exited.
  @Test
  void aRevisedPlanWhoseAnswerNeverGotInIsCancelled() {
    Path socket = folder.resolve("m.sock");
    Manager manager = Site.manager(socket);
    try (ManagerClient client = Site.client(socket, Role.TOOL)) {
      Site.publish(client, 0, 2, Site.BLOCK);
      try (Channel channel = Channel.open(socket)) {
        byte[] names = Names.encode(Site.names(2));
        Command plan = channel.command(Opcode.QUERY, 1, names, DEADLINE, PROMISE_TO_ONE);
        assertThat(plan.opcode()).isEqualTo(Opcode.PLAN.wire());
        for (int i = 0; i < RingLayout.ENTRIES; i++) {
          channel.sendCommand(Opcode.PING, 2 + i, NONE, 0, 0);
        }
        byte[] revision = new byte[8];
        revision[0] = 1;
        channel.sendCommand(
            Opcode.REVISE, 2 + RingLayout.ENTRIES, revision, plan.scalar0(), plan.scalar1());
        Site.await("it is revised", () -> Site.planHolds(client) == 1);
      }
      Site.await("the revised one is cancelled", () -> Site.planHolds(client) == 0);
      assertThat(Site.openPlans(client)).isZero();
    } finally {
      manager.shutdown();
    }
  }

  // Guard: QueryOperation.answered, by which a query is answered once.
  @Test
  void aPendingQueryIsPolledAndCancelled() {
    Path socket = folder.resolve("m.sock");
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer server =
            LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks);
        Channel channel = Channel.open(socket)) {
      blocks.publish(Site.name(0), MemorySegment.ofArray(new byte[64]), false);
      blocks.holdReads();
      byte[] names = Names.encode(Site.names(1));
      channel.sendCommand(Opcode.QUERY, 1, names, DEADLINE, 0);
      assertAnswer(channel.command(Opcode.POLL, 2, NONE, 1, 0), Opcode.POLL_ANSWER, 1);
      assertAnswer(channel.command(Opcode.POLL, 3, NONE, 9, 0), Opcode.POLL_ANSWER, 3);
      Command cancelled = channel.command(Opcode.CANCEL, 4, NONE, 1, 0);
      assertThat(cancelled.requestId()).isEqualTo(1);
      assertThat(fault(cancelled)).isEqualTo(FaultCode.CANCELLED);
      assertAnswer(channel.nextAnswer().command(), Opcode.CANCEL_ANSWER, 1);
      assertAnswer(channel.command(Opcode.POLL, 5, NONE, 1, 0), Opcode.POLL_ANSWER, 3);
      assertAnswer(channel.command(Opcode.CANCEL, 6, NONE, 1, 0), Opcode.CANCEL_ANSWER, 3);
      assertThat(server.pendingQueries()).as("its read goes on").isEqualTo(1);
      blocks.answerReads(channel.welcome().session(), Site.names(1));
      Channel.await("its lease is given back", () -> blocks.leases() == 0);
      assertThat(server.pendingQueries()).isZero();
      assertAnswer(channel.command(Opcode.PING, 7, NONE, 0, 0), Opcode.PONG, 0);
    }
  }
}
