package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Permission;
import io.orbitkv.api.ReceiptIssuer;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.Side;
import io.orbitkv.tck.explore.Steps;
import io.orbitkv.tck.explore.World;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The owner's half under one grant: two READs of two chunks, a handler each. Real are the hold with
 * its gate, the grant table, the registration and the receipts; the requester, the kernel, time and
 * the handlers at their switch points are simulated, the latter in the order of {@link
 * OwnerConnection}'s answer.
 */
final class ExploredSource implements World {
  private static final MemorySegment MEMORY = Arena.global().allocate(8);
  private static final Epoch OWNER = new Epoch(1, 1);
  private static final Epoch REQUESTER = new Epoch(2, 2);
  private static final Token TOKEN = new Token(3, 3);

  enum Link {
    OPEN,
    SHUT,
    ABORTED,
    PEER_CLOSED,
    CLOSED
  }

  private enum Requester {
    ALIVE,
    /** Its kernel still acknowledges. */
    FROZEN,
    /** Nothing is acknowledged. */
    DEAD
  }

  private enum Source {
    HELD,
    QUARANTINED,
    /** And reused. */
    RELEASED
  }

  private final String without;
  private final ReceiptIssuer receipts =
      new ReceiptIssuer(
          "orbitte-tcp",
          OWNER,
          Map.of(Side.SOURCE, Set.of(Evidence.LOCAL_QUIESCED, Evidence.PEER_RECEIPT)));
  private final TcpRegistration registration;
  private final GrantTable table;
  private final TcpSourceHold hold;
  private final ExploredReferences references;
  private final Link[] links;
  private final List<ReplyConnection> connections = new ArrayList<>();
  private final boolean[] said = new boolean[2];
  private final List<ExploredHandler> handlers = new ArrayList<>();
  private Requester requester = Requester.ALIVE;
  private Source source = Source.HELD;
  private boolean complete;
  private boolean retired;
  private int graces;
  private @Nullable String broken;

  /**
   * A new grant, nothing sent.
   *
   * @param without the rule that does not hold; empty: all do
   * @param mode how replies are sent, a name of {@link ExploredReferences.Mode}
   * @param connections 1: both handlers share it; 2: one each
   */
  ExploredSource(String without, String mode, int connections) {
    this.without = without;
    RegionTable regions = new RegionTable();
    registration =
        regions.add(
            new Region(
                new RegionId(1, 1),
                -1,
                0,
                MEMORY,
                MemoryKind.HOST,
                Permission.READ,
                Region.Backing.BORROWED));
    registration.use();
    table = new GrantTable(receipts, _ -> {}, (_, _) -> graces += rule("shutdown") ? 1 : 0);
    GrantId grant = new GrantId(7, 1, OWNER);
    receipts.open(grant);
    hold =
        new TcpSourceHold(
            table,
            new GrantForm(grant, REQUESTER, TOKEN, new long[] {MEMORY.byteSize()}),
            List.of(new SourceRange(MEMORY, -1, 0)),
            List.of(registration),
            new SourceReferences(new ReferenceBudget(MEMORY.byteSize(), _ -> {}), 8));
    table.add(hold);
    references = new ExploredReferences(ExploredReferences.Mode.valueOf(mode), this::rule);
    links = new Link[connections];
    java.util.Arrays.fill(links, Link.OPEN);
    for (int i = 0; i < connections; i++) {
      int link = i;
      this.connections.add(() -> shut(link));
    }
    handlers.add(new ExploredHandler(this, 0, 0));
    handlers.add(new ExploredHandler(this, 1, connections - 1));
  }

  boolean rule(String name) {
    return !name.equals(without);
  }

  TcpSourceHold find() throws ReadRefusedException {
    return table.find(7, 1);
  }

  static @Nullable FaultCode enter(TcpSourceHold found) {
    return found.enter(TOKEN.high(), TOKEN.low(), REQUESTER);
  }

  /** Whether a reply goes by reference, as {@link OwnerConnection} asks. */
  boolean refers(@Nullable TcpSourceHold found, int read, int link) {
    if (references.mode() != ExploredReferences.Mode.SENDFILE) {
      return references.mode() == ExploredReferences.Mode.ZEROCOPY;
    }
    if (said[read] && !rule("early_word")) {
      // As if nothing had been said.
      Objects.requireNonNull(found).refer(100 + read, connections.get(link));
      return true;
    }
    // Without the rule the call's return is taken for its end.
    return !rule("sendfile_word")
        || Objects.requireNonNull(found).refer(1 + read, connections.get(link));
  }

  private void shut(int link) {
    if (links[link] == Link.OPEN) {
      links[link] = Link.SHUT;
    }
  }

  /** The requester's word on a reply, by the connection of the reply or by another. */
  private void say(int read, boolean bySame) {
    said[read] = true;
    ReplyConnection own = connections.get(handlers.get(read).link());
    ReplyConnection by = bySame || !rule("reset_before_word") ? own : () -> {};
    hold.said(1 + read, by);
    if (!rule("word_for_every_read")) {
      hold.said(2 - read, by);
    }
  }

  ExploredReferences references() {
    return references;
  }

  boolean open(int link) {
    return links[link] == Link.OPEN;
  }

  boolean reads() {
    return requester == Requester.ALIVE;
  }

  /** The kernel has read the source. */
  void touched() {
    if (source == Source.RELEASED) {
      broken = "UNSAFE: reused memory was read for the old grant";
    }
  }

  /** A READ was refused; not one whose grant still lives and is held. */
  void refused(@Nullable FaultCode code) {
    boolean sound = source == Source.HELD && !retired;
    if (sound || code != FaultCode.GRANT_ENDED) {
      broken = "WRONG: a sound READ was refused: " + code;
    }
  }

  @Override
  public void offer(Steps steps) {
    offerRequester(steps);
    handlers.forEach(handler -> handler.offer(steps));
    offerKernel(steps);
    if (!retired) {
      steps.step("expiry or revoke retires the token", this::revoke);
    }
    if (graces > 0) {
      steps.step("the grace passes, who is stuck inside is shut down", this::endStuckReplies);
    }
    if (references.evidence()) {
      steps.step("the Manager asks for the receipt", this::drain);
    }
    if (source == Source.HELD
        && references.mode() == ExploredReferences.Mode.SENDFILE
        && retired
        && !reads()) {
      steps.step("no word from the requester: quarantine", () -> source = Source.QUARANTINED);
    }
  }

  private void offerRequester(Steps steps) {
    if (requester == Requester.ALIVE) {
      steps.fault("the requester freezes", () -> become(Requester.FROZEN));
      for (ExploredHandler handler : handlers) {
        int i = handler.number();
        boolean turn = i == 0 || handlers.get(0).received();
        if (turn && !handler.received() && open(handler.link())) {
          steps.step("the requester sends READ " + (i + 1), handler::receive);
        }
        if (references.mode() == ExploredReferences.Mode.SENDFILE
            && handler.replied()
            && open(handler.link())
            && !references.queued(i)
            && !said[i]) {
          steps.step(
              "the requester says: READ " + (i + 1) + " was read to its end", () -> say(i, true));
        }
      }
      if (!complete) {
        steps.step("the requester's Complete retires the token", this::complete);
      }
      for (int i = 0; i < links.length; i++) {
        int link = i;
        if (links[i] == Link.OPEN || links[i] == Link.SHUT) {
          steps.step(
              "the requester closes connection " + (i + 1),
              () -> {
                links[link] = Link.PEER_CLOSED;
                if (references.mode() == ExploredReferences.Mode.ZEROCOPY) {
                  references.purge();
                }
              });
        }
      }
    }
    offerWordsElsewhere(steps);
    if (requester == Requester.FROZEN) {
      steps.fault("the requester thaws", () -> become(Requester.ALIVE));
    }
    if (requester != Requester.DEAD) {
      steps.fault("the requester dies", () -> become(Requester.DEAD));
    }
  }

  /** By another connection, once the requester's end of the first is closed. */
  private void offerWordsElsewhere(Steps steps) {
    if (references.mode() != ExploredReferences.Mode.SENDFILE || requester != Requester.ALIVE) {
      return;
    }
    for (int i = 0; i < 2; i++) {
      int read = i;
      boolean closed = links[0] == Link.PEER_CLOSED || links[0] == Link.CLOSED;
      if (closed && handlers.get(i).received() && !said[i]) {
        steps.step(
            "the requester says by another connection: that of READ " + (i + 1) + " is closed",
            () -> say(read, false));
      }
    }
  }

  private void become(Requester next) {
    requester = next;
    if (next != Requester.ALIVE && !rule("silence_is_quarantine")) {
      say(0, true);
      say(1, true);
    }
  }

  /** Only modes that refer have anything here, and then there is one connection. */
  private void offerKernel(Steps steps) {
    Link link = links[0];
    for (int i = 0; i < 2; i++) {
      int read = i;
      boolean sendfile = references.mode() == ExploredReferences.Mode.SENDFILE;
      // What the owner has reset is dropped; what only its peer has closed may still be sent.
      boolean up =
          link == Link.OPEN
              || link == Link.SHUT
              || (link == Link.CLOSED && !sendfile)
              || (link == Link.PEER_CLOSED && sendfile);
      if (references.queued(i) && up && requester != Requester.DEAD) {
        steps.step(
            references.mode() == ExploredReferences.Mode.SENDFILE
                ? "the kernel transmits a chunk of reply " + (i + 1)
                : "the kernel transmits a chunk",
            () -> {
              references.transmit(read, links[0] != Link.CLOSED);
              touched();
            });
      }
    }
    boolean ended = link == Link.SHUT || link == Link.PEER_CLOSED;
    if (references.mode() == ExploredReferences.Mode.SENDFILE
        && ended
        && handlers.stream().noneMatch(ExploredHandler::busy)) {
      steps.step(
          "the owner's thread resets the connection",
          () -> {
            links[0] = Link.CLOSED;
            references.purge();
            hold.reset(connections.get(0));
          });
    }
    if (references.mode() != ExploredReferences.Mode.ZEROCOPY) {
      return;
    }
    if (references.unread()) {
      steps.step("the owner reads the error queue", references::readErrors);
    }
    if (retired && link == Link.OPEN && references.pending() && rule("shutdown")) {
      steps.step("the grace passes, what is not notified is shut down", () -> links[0] = Link.SHUT);
    }
    boolean queued = references.queued(0) || references.queued(1);
    if (link == Link.SHUT && queued && rule("zerocopy_abort")) {
      steps.step(
          "the owner calls connect(AF_UNSPEC)",
          () -> {
            links[0] = Link.ABORTED;
            references.purge();
          });
    }
    boolean down = link == Link.SHUT || link == Link.ABORTED || link == Link.PEER_CLOSED;
    if (down && !(references.pending() && rule("errors_before_close"))) {
      steps.step(
          "the owner closes the socket",
          () -> {
            links[0] = Link.CLOSED;
            references.closed();
          });
    }
  }

  private void revoke() {
    retired = true;
    hold.revoke();
  }

  private void complete() {
    complete = true;
    revoke();
    if (!rule("complete_frees_nothing")) {
      source = Source.RELEASED;
    }
  }

  /** As {@link OwnerService} does when the grace has passed. */
  private void endStuckReplies() {
    graces--;
    for (ExploredHandler handler : handlers) {
      if (!hold.drained() && handler.serves(hold) && open(handler.link())) {
        links[handler.link()] = Link.SHUT;
      }
    }
  }

  private void drain() {
    hold.drain()
        .ifPresent(
            receipt -> {
              receipts.spend(receipt, hold.grant());
              registration.close();
              source = Source.RELEASED;
            });
  }

  @Override
  public Object fingerprint() {
    return List.of(
        List.of(links),
        handlers.stream().map(ExploredHandler::fingerprint).toList(),
        references.fingerprint(),
        ExploredFields.gate(hold),
        String.valueOf(ExploredFields.value(hold, "references")),
        said[0],
        said[1],
        table.size(),
        receipts.openSubjects(),
        requester,
        source,
        complete,
        retired,
        graces,
        String.valueOf(broken));
  }

  @Override
  public @Nullable String broken() {
    return broken;
  }

  @Override
  public boolean ended() {
    return source != Source.HELD;
  }
}
