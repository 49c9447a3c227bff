package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.catalog.LeaseTable;
import io.orbitkv.manager.control.GrantOffer;
import io.orbitkv.manager.local.BlockService.ReadOptions;
import io.orbitkv.manager.memory.Allocation;
import io.orbitkv.manager.memory.Hold;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntBiFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * One read of an engine, by the real {@link FetchOperation} and {@link PartRead}s, cut into the
 * steps between which its thread may be late: each is handed to the caller, who runs it when he
 * likes. All parts are asked for at once, which is wilder than what {@link PartPipeline} does.
 */
public final class SteppedFetch {
  /** Runs the steps of the operation's thread. */
  public interface Steps {
    /** Runs it some time later. */
    void later(String what, Runnable step);
  }

  /** A block of the answer. */
  public record FoundBlock(BlockName name, Allocation allocation) {}

  /** The answer; lease 0 if nothing was found, or nobody is there to hold it. */
  public record Answer(long lease, long expiresAtNanos, List<FoundBlock> blocks) {}

  private static final int ATTEMPTS = 3;

  private final FetchContext context;
  private final RemotePeers peers;
  private final List<BlockName> names;
  private final List<Integer> missing = new ArrayList<>();
  private final Steps steps;
  private final Runnable over;
  private final FetchOperation operation;
  private final List<PartRead> parts = new ArrayList<>();
  private int open;
  private boolean stopped;

  /**
   * A read that has not begun.
   *
   * @param over is told when all parts have ended, also after the read was answered
   */
  public SteppedFetch(
      SteppedTransfers transfers,
      List<BlockName> names,
      boolean prefix,
      Object holder,
      Steps steps,
      Runnable over) {
    this.context = transfers.fetchContext();
    this.peers = transfers.peers();
    this.names = List.copyOf(names);
    this.steps = steps;
    this.over = over;
    this.operation =
        new FetchOperation(
            context,
            new InFlightNames(),
            this.names,
            new ReadOptions(true, prefix, Long.MAX_VALUE),
            holder);
  }

  /** Takes what is here and asks peers for the rest; {@code over} comes later in any case. */
  public void begin(
      ToLongFunction<BlockName> bytes, ToIntBiFunction<BlockName, List<String>> owner) {
    for (int i = 0; i < names.size(); i++) {
      if (!context.catalog().contains(names.get(i))) {
        missing.add(i);
      }
    }
    operation.takeLocal();
    List<RemotePeers.RemotePeer> up = peers.up();
    open = 1;
    if (!up.isEmpty()) {
      Map<Integer, List<WantedBlock>> byOwner = new LinkedHashMap<>();
      List<String> addresses = up.stream().map(peer -> peer.link().address()).toList();
      for (int index : missing) {
        BlockName name = names.get(index);
        int from = owner.applyAsInt(name, addresses);
        if (from >= 0) {
          byOwner
              .computeIfAbsent(from, _ -> new ArrayList<>())
              .add(new WantedBlock(index, name, bytes.applyAsLong(name)));
        }
      }
      byOwner.forEach((i, blocks) -> ask(up.get(i), blocks, ATTEMPTS));
    }
    endOne();
  }

  /** The operation waits no more: asks for the end of all parts, as the Manager always does. */
  public void stop() {
    stopped = true;
    parts.forEach(PartRead::abandon);
  }

  /** What came, under a lease; called once, after {@link #stop()}. */
  public Answer answer(LeaseTable leases, long holder) {
    try {
      List<FetchOperation.Found> found = operation.answer();
      if (found.isEmpty()) {
        return new Answer(0, 0, List.of());
      }
      List<Hold> holds = found.stream().map(FetchOperation.Found::hold).distinct().toList();
      Optional<LeaseTable.Granted> lease = leases.grant(holder, holds);
      return lease
          .map(
              granted ->
                  new Answer(
                      granted.id(),
                      granted.expiresAtNanos(),
                      found.stream()
                          .map(one -> new FoundBlock(names.get(one.index()), allocation(one)))
                          .toList()))
          .orElseGet(() -> new Answer(0, 0, List.of()));
    } finally {
      leases.end(holder);
    }
  }

  private static Allocation allocation(FetchOperation.Found found) {
    return found.hold().allocation();
  }

  private void ask(RemotePeers.RemotePeer owner, List<WantedBlock> blocks, int attempts) {
    PartRead read = new PartRead(context, owner, blocks, operation, "a read");
    try {
      read.reserve();
    } catch (TransportException e) {
      return;
    }
    parts.add(read);
    open++;
    var _ = read.ended().whenComplete((_, _) -> steps.later("a part has ended", this::endOne));
    var _ =
        read.askGrant()
            .whenComplete(
                (offer, refusal) ->
                    steps.later(
                        "the answer of an owner is taken up",
                        () -> submit(read, owner, blocks, attempts, offer, refusal)));
  }

  private void submit(
      PartRead read,
      RemotePeers.RemotePeer owner,
      List<WantedBlock> blocks,
      int attempts,
      @Nullable GrantOffer offer,
      @Nullable Throwable refusal) {
    if (stopped) {
      // The part was abandoned, and gives a grant that comes late back by itself.
      return;
    }
    if (offer == null) {
      boolean again = refusal instanceof TransportException e && e.code() == FaultCode.EXHAUSTED;
      if (again && attempts > 1) {
        ask(owner, blocks, attempts - 1);
      }
      read.abandon();
      return;
    }
    List<WantedBlock> leftOut = read.submit(offer);
    if (!leftOut.isEmpty() && attempts > 1) {
      ask(owner, leftOut, attempts - 1);
    }
  }

  private void endOne() {
    if (--open == 0) {
      over.run();
    }
  }
}
