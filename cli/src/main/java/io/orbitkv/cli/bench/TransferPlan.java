package io.orbitkv.cli.bench;

import io.orbitkv.bench.LoopShape;
import java.util.List;

/**
 * What is measured, and how.
 *
 * @param cases the named cases; empty: the shapes
 * @param shapes what is measured when no case was named
 * @param isTable whether these are the rows of the table, which ends with the whole path
 * @param rounds how often; medians are shown
 * @param warmUpSeconds before each measurement
 * @param seconds of each measurement
 * @param poolBytes at each end
 * @param baseline what is measured in turn with the provider
 * @param json whether one JSON object is printed instead of tables
 */
public record TransferPlan(
    List<TransferCase> cases,
    List<LoopShape> shapes,
    boolean isTable,
    int rounds,
    double warmUpSeconds,
    double seconds,
    long poolBytes,
    BaselineKind baseline,
    boolean json) {
  /** Copies the lists. */
  public TransferPlan {
    cases = List.copyOf(cases);
    shapes = List.copyOf(shapes);
  }

  /** Whether two Managers are measured too. */
  boolean wholePath() {
    return isTable || cases.contains(TransferCase.WHOLE_PATH);
  }

  /** The rows that are measured when nothing is asked for. */
  public static List<LoopShape> rows() {
    return Shapes.table();
  }
}
