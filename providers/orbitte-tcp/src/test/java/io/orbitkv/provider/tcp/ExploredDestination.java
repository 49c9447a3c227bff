package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.tck.explore.Steps;
import io.orbitkv.tck.explore.World;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requester's half: ticket 1 for a range, and, once its receipt is spent, ticket 2 for the same
 * range under a new grant. Real are the peer with its queue, the tickets with their gates, the
 * parts, the headers of replies and the receipts; the owner, the network, time and the thread of
 * the one connection ({@link ExploredReceiver}) are simulated.
 */
final class ExploredDestination implements World {
  private final String without;
  private final ExploredRequester requester;
  private final ExploredWire wire = new ExploredWire();
  private final ExploredReceiver receiver;
  private final List<TcpTicket> tickets = new ArrayList<>();

  /** Whether the receipt of a ticket was spent, and whether its range was reused. */
  private final boolean[] spent = new boolean[2];

  private final boolean[] reused = new boolean[2];

  /** The tickets that are looked at when their grace has passed. */
  private final List<Integer> graces = new ArrayList<>();

  /** Whose end is being told to the peer. */
  private int ending;

  private @Nullable String broken;

  /**
   * Ticket 1 is posted.
   *
   * @param without the rule that does not hold; empty: all do
   * @param byOrder whether a reply must be the next one, as in {@link ReplyReader}, or is found by
   *     its id among all that are known
   * @param parts READs of one ticket: 1 of two chunks, or 2 of one
   * @param polls whether a receive without bytes returns, or waits inside of the range
   */
  ExploredDestination(String without, boolean byOrder, int parts, boolean polls) {
    this.without = without;
    requester = ExploredRequester.next(parts, this::leftToTimer);
    receiver = new ExploredReceiver(this, wire, byOrder, polls);
    tickets.add(requester.read(1));
  }

  boolean rule(String name) {
    return !name.equals(without);
  }

  int number(TcpTicket ticket) {
    return tickets.indexOf(ticket) + 1;
  }

  private void leftToTimer() {
    if (rule("shutdown")) {
      graces.add(ending);
    }
  }

  /** The thread has received a chunk into a ticket's range. */
  void received(int ticket, int origin) {
    if (reused[ticket - 1]) {
      broken = "UNSAFE: old bytes were written into the reused range";
    } else if (ticket != origin) {
      broken = "UNSAFE: a ticket took the bytes of another one's reply";
    }
  }

  /** The thread has let go of everything: as at the end of {@link Lane}. */
  void down(List<Part> parts, FaultCode code) {
    wire.shutdown();
    List<TcpTicket> failed = new ArrayList<>(requester.down());
    parts.forEach(part -> failed.add(part.ticket()));
    for (TcpTicket ticket : failed) {
      if (!ticket.ended() && wire.alive()) {
        broken = "WRONG: a sound request failed on a healthy connection";
      }
      ending = number(ticket);
      ticket.fail(code, "down");
    }
  }

  @Override
  public void offer(Steps steps) {
    if (wire.alive()) {
      steps.fault("the owner dies or freezes", wire::die);
      if (wire.open()) {
        steps.fault("the owner closes the connection", wire::close);
      }
    }
    if (wire.canSend()) {
      steps.step("a chunk of reply " + wire.sends() + " arrives", wire::send);
    }
    if (wire.open() && !requester.peer().queued().isEmpty()) {
      steps.step("a READ is sent", this::send);
    }
    receiver.offer(steps);
    for (int i = 0; i < tickets.size(); i++) {
      int number = i + 1;
      if (!tickets.get(i).ended()) {
        steps.step(
            "DEADLINE is answered, ticket " + number + " is cancelled", () -> cancel(number));
      }
      if (!spent[i]) {
        steps.step("the Manager asks for the receipt of ticket " + number, () -> drain(number));
      }
    }
    if (reused[0] && tickets.size() == 1 && wire.open()) {
      steps.step("ticket 2 is posted for the same range", () -> tickets.add(requester.read(2)));
    }
    graces.stream()
        .distinct()
        .forEach(
            number ->
                steps.step("the grace of ticket " + number + " passes", () -> endStuck(number)));
  }

  private void send() {
    Part part = requester.nextPart(!rule("ids_used_once"));
    if (part != null) {
      receiver.due(part);
      wire.request(number(part.ticket()), part.requestId(), part.bytes());
    }
  }

  private void cancel(int number) {
    ending = number;
    TcpTicket ticket = tickets.get(number - 1);
    ticket.cancel();
    if (!rule("abandoned_id_known")) {
      receiver.forget(ticket);
    }
    if (!rule("deadline_frees_nothing")) {
      reused[number - 1] = true;
    }
  }

  private void drain(int number) {
    if (requester.spend(tickets.get(number - 1))) {
      spent[number - 1] = true;
      reused[number - 1] = true;
    }
  }

  /** As {@link TcpPeer} does when the grace has passed. */
  private void endStuck(int number) {
    graces.remove(Integer.valueOf(number));
    TcpTicket ticket = tickets.get(number - 1);
    boolean stuck = !ticket.drained() && receiver.receives(ticket);
    if (stuck || !rule("only_who_is_stuck")) {
      wire.shutdown();
    }
  }

  @Override
  public Object fingerprint() {
    List<Object> all = new ArrayList<>();
    for (int i = 0; i < tickets.size(); i++) {
      TcpTicket ticket = tickets.get(i);
      all.add(ExploredFields.gate(ticket));
      all.add(ticket.ended());
      all.add(ticket.planned());
      // What an ended one has received decides nothing more.
      all.add(ticket.ended() ? 0 : receiver.chunks(i + 1));
      all.add(ticket.outcome().map(outcome -> outcome.getClass().getSimpleName()).orElse(""));
      all.add(String.valueOf(ExploredFields.value(ticket, "missingBytes")));
      Object why = ExploredFields.value(ticket, "why");
      all.add(why == null ? "" : why.getClass().getSimpleName());
    }
    all.add(requester.peer().queued().stream().map(this::number).toList());
    all.add(requester.unspent());
    all.add(wire.fingerprint());
    all.add(receiver.fingerprint());
    all.add(List.copyOf(graces));
    all.add(List.of(spent[0], spent[1], reused[0], reused[1]));
    all.add(String.valueOf(broken));
    return all;
  }

  @Override
  public @Nullable String broken() {
    for (int i = 0; i < tickets.size() && broken == null; i++) {
      Outcome outcome = tickets.get(i).outcome().orElse(null);
      if (outcome != null && outcome.completed() && receiver.chunks(i + 1) != 2) {
        return "WRONG: ticket " + (i + 1) + " completed without its bytes";
      }
    }
    return broken;
  }

  @Override
  public boolean ended() {
    return spent[0] && (tickets.size() == 1 || spent[1]);
  }
}
