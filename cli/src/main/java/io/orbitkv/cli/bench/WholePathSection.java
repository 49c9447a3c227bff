package io.orbitkv.cli.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.bench.Comparison;
import io.orbitkv.bench.Contender;
import io.orbitkv.bench.IdleCpu;
import io.orbitkv.bench.LoopShape;
import io.orbitkv.bench.ProcessCpu;
import io.orbitkv.bench.SocketLoopClient;
import io.orbitkv.bench.WholePath;
import java.util.List;
import java.util.Random;

/**
 * What an engine waits for: two Managers beside the time that a raw socket takes for the same
 * bytes.
 */
final class WholePathSection {
  private static final long BLOCK_BYTES = 2 << 20;
  private static final int BLOCKS = 256;
  private static final long OWNER_POOL_BYTES = 576L << 20;
  // Room for less than all blocks, so that each is fetched again: the oldest makes room.
  private static final long ASKED_POOL_BYTES = 192L << 20;
  private static final double IDLE_SECONDS = 2;

  /** After about so many single fetches the JVM compiles no more of what they need. */
  private static final int WARM_UP_OPERATIONS = 25_000;

  private static final double MOST_WARM_UP_SECONDS = 40;
  private static final double WARM_UP_TIMES = 100;
  private static final double FILL_SECONDS = 4;

  private final TransferPlan plan;
  private final TwoManagers.Start managers;
  private final Page page;
  private final Runnable step;

  WholePathSection(TransferPlan plan, TwoManagers.Start managers, Page page, Runnable step) {
    this.plan = plan;
    this.managers = managers;
    this.page = page;
    this.step = step;
  }

  static List<LoopShape> shapes() {
    return List.of(LoopShape.random(BLOCK_BYTES, 1, 1), LoopShape.random(BLOCK_BYTES, 32, 1));
  }

  Section run() throws InterruptedException {
    page.line("");
    page.line(
        "whole path: query, look-up, grant, read, receipt, seal, lease, answer, by two Managers;"
            + " medians of "
            + plan.rounds()
            + " rounds; below it the part from the question for the grant to the receipt, by the asked"
            + " Manager's clock"
            + " (of its last 256 fetches)");
    page.line(CaseTable.head());
    if (plan.baseline() == BaselineKind.NONE || !SocketLoopClient.possible()) {
      return run(List.of());
    }
    try (SocketLoopClient loop = SocketLoopClient.startHere(plan.poolBytes())) {
      return run(loop.sleepingWays());
    }
  }

  private double warmUpSeconds() {
    return Math.min(MOST_WARM_UP_SECONDS, WARM_UP_TIMES * plan.warmUpSeconds());
  }

  private Section run(List<Contender> ways) throws InterruptedException {
    try (TwoManagers two = managers.run(OWNER_POOL_BYTES, ASKED_POOL_BYTES);
        WholePath path =
            WholePath.open(
                two.owner(),
                two.asked(),
                BLOCK_BYTES,
                BLOCKS,
                () ->
                    ProcessCpu.nanos(two.ownerProcess()) + ProcessCpu.nanos(two.askedProcess()))) {
      var _ = path.warmUp(WARM_UP_OPERATIONS, warmUpSeconds());
      JsonObject json = new JsonObject();
      json.addProperty("case", TransferCase.WHOLE_PATH.toString());
      JsonArray rows = new JsonArray();
      long errors = 0;
      for (LoopShape shape : shapes()) {
        // So that the Manager's last fetches are of this shape before the first round.
        var _ = path.measure(shape, 0, Math.min(FILL_SECONDS, warmUpSeconds()));
        Comparison comparison =
            Comparison.run(
                shape,
                path,
                ways,
                plan.rounds(),
                plan.warmUpSeconds(),
                plan.seconds(),
                new Random(1),
                step);
        page.line(CaseTable.row(comparison));
        Comparison fetch =
            new Comparison(shape, path.fetches(plan.rounds()), comparison.baselines());
        page.line(CaseTable.row(fetch) + "  of it grant, read, receipt");
        if (!comparison.failure().isEmpty()) {
          page.line("  an operation failed: " + comparison.failure());
        }
        JsonObject row = TransferJson.of(comparison);
        row.add("grant_read_receipt", TransferJson.of(fetch));
        rows.add(row);
        errors += comparison.errors();
      }
      json.add("rows", rows);
      IdleCpu idle =
          IdleCpu.measure(
              () -> ProcessCpu.nanos(two.askedProcess()),
              () -> ProcessCpu.nanos(two.ownerProcess()),
              IDLE_SECONDS);
      page.line(
          Section.idleLine(
              "Manager asked", idle.requester(), "Manager of the blocks", idle.owner()));
      json.add("idle", Section.idleJson("asked", idle.requester(), "owner", idle.owner()));
      return new Section(json, errors);
    }
  }
}
