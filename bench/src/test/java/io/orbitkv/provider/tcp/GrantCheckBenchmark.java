package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.Side;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What does an owner's check of a grant cost each READ: find it, check the token, enter, leave? */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class GrantCheckBenchmark {
  /** Grants that are open. */
  @Param({"1", "1000"})
  public int grants;

  private final Epoch owner = Epoch.random();
  private final Epoch requester = Epoch.random();
  private final Token token = Token.random();
  private final GrantTable table =
      new GrantTable(
          new ReceiptIssuer(
              "orbitte-tcp", owner, Map.of(Side.SOURCE, Set.of(Evidence.LOCAL_QUIESCED))),
          _ -> {},
          (_, _) -> {});

  private long next;

  /** Opens the grants. */
  @Setup
  public void setUp() {
    for (int id = 1; id <= grants; id++) {
      GrantForm form =
          new GrantForm(new GrantId(id, 1, owner), requester, token, new long[] {1 << 20});
      table.add(
          new TcpSourceHold(
              table,
              form,
              List.of(),
              List.of(),
              new SourceReferences(new ReferenceBudget(0, _ -> {}), 1 << 20)));
    }
  }

  /** One READ's way in and out. */
  @Benchmark
  public @Nullable FaultCode findEnterAndLeave() throws ReadRefusedException {
    next = next % grants + 1;
    TcpSourceHold hold = table.find(next, 1);
    FaultCode refusal = hold.enter(token.high(), token.low(), requester);
    if (refusal == null) {
      hold.leave();
    }
    return refusal;
  }
}
