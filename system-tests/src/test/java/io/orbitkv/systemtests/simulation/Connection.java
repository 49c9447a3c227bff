package io.orbitkv.systemtests.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * One payload connection, as both ends see it: either end may have closed while the other does not
 * know. What was sent before is still on its way.
 */
final class Connection {
  private static final int ROOM = 2;

  private final World world;
  private final int number;
  private final SimulatedTransport requester;
  private final Host owner;
  private final List<Piece> waiting = new ArrayList<>();
  private boolean requesterClosed;
  private boolean ownerClosed;
  private int onTheWay;

  Connection(World world, int number, SimulatedTransport requester, Host owner) {
    this.world = world;
    this.number = number;
    this.requester = requester;
    this.owner = owner;
  }

  Host owner() {
    return owner;
  }

  SimulatedTransport requester() {
    return requester;
  }

  boolean requesterClosed() {
    return requesterClosed;
  }

  boolean ownerClosed() {
    return ownerClosed;
  }

  /** Whether a send would not block. */
  boolean hasRoom() {
    return onTheWay < ROOM;
  }

  void sent() {
    onTheWay++;
  }

  void arrived() {
    onTheWay--;
  }

  void awaits(Piece piece) {
    waiting.add(piece);
  }

  void ended(Piece piece) {
    waiting.remove(piece);
  }

  /** The requester's end closes; the owner's end hears of it later. */
  void closeByRequester(String why) {
    if (requesterClosed) {
      return;
    }
    requesterClosed = true;
    world.post(Pending.at(owner, this + " ends at its owner", () -> ownerClosed = true));
    List.copyOf(waiting).forEach(piece -> piece.ticket().lost(why));
    waiting.clear();
  }

  /** The owner's end closes; the requester's end hears of it later. */
  void closeByOwner() {
    if (!ownerClosed) {
      ownerClosed = true;
      tellRequester("the owner closed the connection");
    }
  }

  /** It breaks; both ends hear of it, in any order. */
  void cut() {
    world.post(Pending.at(owner, this + " breaks at its owner", () -> ownerClosed = true));
    tellRequester("the connection broke");
  }

  void requesterDied() {
    world.post(Pending.at(owner, this + " is reset", () -> ownerClosed = true));
  }

  void ownerDied() {
    tellRequester("the owner died");
  }

  private void tellRequester(String why) {
    world.post(
        Pending.at(
            requester.manager(), this + " ends at its requester", () -> closeByRequester(why)));
  }

  @Override
  public String toString() {
    return "connection " + number + " of " + requester.manager() + " to " + owner;
  }
}
