package io.orbitkv.cli;

import io.orbitkv.cli.output.Units;
import io.orbitkv.cli.replay.ReplayReport;
import java.util.Map;

/** Whether a replay showed what it is there to show. */
final class Verdict {
  private Verdict() {}

  /** Throws if a byte was wrong or a drain receipt is missing. */
  static void check(ReplayReport report) throws CommandException {
    if (report.mismatchedBytes() > 0) {
      throw new CommandException(
          Units.count(report.mismatchedBytes())
              + " of "
              + Units.count(report.verifiedBytes())
              + " bytes differ from what was published; keep the Managers' logs and report it"
              + " (unless another program published under these names: give another --namespace)");
    }
    if (report.missingReceipts() > 0) {
      throw new CommandException(
          Units.count(report.missingReceipts())
              + " drain receipts are missing, "
              + Units.bytes(report.counters().quarantinedBytes())
              + " are quarantined; 'orbitkv stat --holds' says what for");
    }
  }

  /** Throws if an operation failed: how many, and the reason that came most often. */
  static void checkFailures(ReplayReport report) throws CommandException {
    if (report.failed() > 0) {
      String reason =
          report.failures().entrySet().stream()
              .max(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry::getKey))
              .map(Map.Entry::getKey)
              .orElse("unknown");
      throw new CommandException(
          Units.count(report.failed()) + " operations failed, most of them by " + reason);
    }
  }
}
