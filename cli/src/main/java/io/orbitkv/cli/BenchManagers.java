package io.orbitkv.cli;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.cli.bench.TwoManagers;
import java.nio.file.Path;
import java.util.List;

/** The two Managers of {@code bench transfer --case whole-path}. */
final class BenchManagers implements TwoManagers {
  private final Quickstart both;

  private BenchManagers(Quickstart both) {
    this.both = both;
  }

  /**
   * Starts both and waits until they know each other.
   *
   * @param further options of both
   * @throws TransportException if one does not come up
   */
  static BenchManagers start(long ownerPoolBytes, long askedPoolBytes, List<String> further)
      throws InterruptedException {
    Quickstart both;
    try {
      both = Quickstart.create();
    } catch (CommandException e) {
      throw fault(e, "");
    }
    boolean started = false;
    try {
      both.start(List.of(Long.toString(ownerPoolBytes), Long.toString(askedPoolBytes)), further);
      started = true;
      return new BenchManagers(both);
    } catch (CommandException e) {
      throw fault(e, both.keptLogs());
    } finally {
      if (!started) {
        both.close();
      }
    }
  }

  private static TransportException fault(CommandException cause, String logs) {
    return new TransportException(FaultCode.PEER_LOST, cause.getMessage() + logs, cause);
  }

  @Override
  public Path owner() {
    return both.managers().getFirst().socket();
  }

  @Override
  public Path asked() {
    return both.managers().getLast().socket();
  }

  @Override
  public ProcessHandle ownerProcess() {
    return both.managers().getFirst().handle();
  }

  @Override
  public ProcessHandle askedProcess() {
    return both.managers().getLast().handle();
  }

  @Override
  public void close() {
    both.close();
  }
}
