package io.orbitkv.systemtests.simulation;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.manager.memory.Allocation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A ticket of the simulated transport. Every entry of the reading thread into the destination
 * checks it in one step; a cancel retires it, and what is inside by then still writes. Its receipt
 * is issued when the outcome is set and nobody is inside.
 */
final class SimulatedTicket implements Ticket, Movement {
  private static final int NOT_YET_ODDS = 5;

  private final SimulatedTransport transport;
  private final World world;
  private final TicketId id;
  private final List<Allocation> destination;
  private final List<Piece> pieces = new ArrayList<>();
  private @Nullable Outcome outcome;
  private @Nullable Outcome next;
  private @Nullable Consumer<Outcome> callback;
  private boolean retired;
  private boolean issued;
  private int inside;

  SimulatedTicket(
      SimulatedTransport transport, World world, TicketId id, List<Allocation> destination) {
    this.transport = transport;
    this.world = world;
    this.id = id;
    this.destination = destination;
  }

  void add(Piece piece) {
    pieces.add(piece);
  }

  List<Piece> pieces() {
    return pieces;
  }

  /** The reading thread has a chunk and wants to write it; false: to scratch with it. */
  boolean enter(Piece piece, int chunk) {
    if (retired || piece.begun()[chunk]) {
      return false;
    }
    piece.begun()[chunk] = true;
    inside++;
    return true;
  }

  /** The reading thread has written a chunk and leaves. */
  void leave(Piece piece, int chunk) {
    inside--;
    piece.done()[chunk] = true;
    if (piece.complete()) {
      transport.forget(piece);
    }
    boolean all = world.is(Mutant.SUCCESS_BEFORE_LAST_PART) && piece.complete();
    if (!retired && (all || pieces.stream().allMatch(Piece::complete))) {
      retire();
      settle(Outcome.COMPLETED);
    } else if (inside == 0 && next != null) {
      settle(next);
    }
  }

  /** A part of it ended badly: nothing enters any more, and it ends when nobody is inside. */
  void failed(FaultCode code, String why) {
    if (!retired) {
      retire();
      endWhenLeft(new Outcome.Failed(code, why));
    }
  }

  void lost(String why) {
    failed(FaultCode.PEER_LOST, why);
  }

  private void retire() {
    retired = true;
    pieces.forEach(transport::forget);
  }

  private void endWhenLeft(Outcome result) {
    if (inside == 0) {
      settle(result);
    } else {
      next = result;
    }
  }

  private void settle(Outcome result) {
    if (outcome != null) {
      return;
    }
    outcome = result;
    Consumer<Outcome> told = callback;
    if (told != null) {
      world.post(tell(told, result));
    }
  }

  private Pending tell(Consumer<Outcome> told, Outcome result) {
    return Pending.at(
        transport.manager(),
        "ticket " + id.id() + " has its outcome",
        () -> {
          told.accept(result);
          transport.manager().afterOutcome(id);
        });
  }

  @Override
  public TicketId id() {
    return id;
  }

  @Override
  public Optional<Outcome> outcome() {
    return Optional.ofNullable(outcome);
  }

  @Override
  public Optional<Outcome> await(long nanos) {
    return outcome();
  }

  @Override
  public void onSettled(Consumer<Outcome> told) {
    callback = told;
    if (outcome != null) {
      told.accept(outcome);
    }
  }

  @Override
  public void cancel() {
    world.post(
        Pending.at(transport.manager(), "ticket " + id.id() + " is cancelled", this::cancelNow));
  }

  private void cancelNow() {
    if (retired || outcome != null) {
      return;
    }
    if (world.is(Mutant.RECEIPT_ON_CANCEL)) {
      settle(Outcome.CANCELLED);
      return;
    }
    retire();
    if (world.chance().oneIn(2)) {
      settle(Outcome.CANCELLED);
    } else {
      endWhenLeft(Outcome.CANCELLED);
    }
  }

  @Override
  public Optional<DrainReceipt> drain() {
    boolean proven =
        world.is(Mutant.RECEIPT_WHILE_READING_THREAD_INSIDE)
            || world.is(Mutant.RECEIPT_ON_CANCEL)
            || (inside == 0 && retired);
    if (outcome == null || !proven || issued || world.chance().oneIn(NOT_YET_ODDS)) {
      return Optional.empty();
    }
    issued = true;
    return Optional.of(transport.issue(id, Evidence.LOCAL_QUIESCED));
  }

  @Override
  public SimulatedManager owner() {
    return transport.manager();
  }

  @Override
  public List<Allocation> touched() {
    return destination;
  }

  @Override
  public boolean live() {
    return !retired || inside > 0;
  }

  @Override
  public String toString() {
    return "ticket " + id.id() + " of " + transport.manager() + " (" + inside + " inside)";
  }
}
