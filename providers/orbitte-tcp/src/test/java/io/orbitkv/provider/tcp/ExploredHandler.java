package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.tck.explore.Steps;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The thread that answers one READ, stopped at each point at which others can come between: the
 * order of {@link OwnerConnection}'s answer.
 */
final class ExploredHandler {
  private enum Phase {
    UNSENT,
    ON_WIRE,
    FOUND,
    /** Only where check and entry are two steps. */
    CHECKED,
    /** Only where it is marked after the entry. */
    UNMARKED,
    ENTERED,
    SENDING,
    REPLIED,
    CUT,
    REFUSED
  }

  private final ExploredSource world;
  private final int number;
  private final int link;
  private Phase phase = Phase.UNSENT;
  private int chunks = 2;
  private boolean inside;
  private boolean refers;
  private @Nullable TcpSourceHold found;
  private @Nullable TcpSourceHold serving;
  private @Nullable Runnable late;

  ExploredHandler(ExploredSource world, int number, int link) {
    this.world = world;
    this.number = number;
    this.link = link;
  }

  int number() {
    return number;
  }

  int link() {
    return link;
  }

  boolean received() {
    return phase != Phase.UNSENT;
  }

  boolean replied() {
    return phase == Phase.REPLIED;
  }

  /** Whether its thread is inside, or on the way there. */
  boolean busy() {
    return phase == Phase.ON_WIRE || phase == Phase.ENTERED;
  }

  boolean serves(TcpSourceHold hold) {
    return serving == hold;
  }

  void receive() {
    phase = Phase.ON_WIRE;
  }

  void offer(Steps steps) {
    String name = "handler " + (number + 1);
    switch (phase) {
      case UNSENT, REPLIED, CUT, REFUSED -> {}
      case ON_WIRE -> {
        if (copies()) {
          steps.step(name + " looks up the grant and is marked", this::find);
        } else {
          steps.step(
              name + " looks up the grant, is marked, checks the token, enters", this::begin);
        }
      }
      case FOUND -> steps.step(name + " checks the token and enters", this::enter);
      case CHECKED -> steps.step(name + " enters, having checked", this::enterLate);
      case UNMARKED -> steps.step(name + " is marked", () -> mark(Phase.ENTERED));
      case ENTERED -> {
        if (chunks == 0) {
          steps.step(name + " leaves behind the last byte", () -> leave(Phase.REPLIED));
        } else if (world.open(link) && copies()) {
          steps.step(name + " calls send", () -> phase = Phase.SENDING);
        } else if (world.open(link)) {
          steps.step(name + ": the kernel refers to a chunk", this::refer);
        }
      }
      case SENDING -> {
        if (world.open(link) && world.reads()) {
          steps.step(name + ": the kernel copied a chunk", this::copy);
        }
      }
    }
    boolean cut = (phase == Phase.ENTERED && chunks > 0) || phase == Phase.SENDING;
    if (cut && !world.open(link)) {
      steps.step(name + " leaves, the connection is down", () -> leave(Phase.CUT));
    }
  }

  /** All at once, where the way to send is what is explored. */
  private void begin() {
    find();
    if (phase == Phase.FOUND) {
      enter();
    }
  }

  private void find() {
    try {
      found = world.find();
    } catch (ReadRefusedException e) {
      refuse(e.code());
      return;
    }
    phase = Phase.FOUND;
    if (world.rule("marked_first")) {
      serving = found;
    }
  }

  private void enter() {
    FaultCode refusal = ExploredSource.enter(Objects.requireNonNull(found));
    if (refusal != null) {
      refuse(refusal);
      return;
    }
    late = ExploredGates.takeLater();
    phase = late == null ? Phase.ENTERED : Phase.CHECKED;
    if (late == null) {
      entered();
    }
  }

  private void enterLate() {
    Objects.requireNonNull(late).run();
    late = null;
    entered();
  }

  private void entered() {
    inside = true;
    phase = world.rule("marked_first") ? Phase.ENTERED : Phase.UNMARKED;
    refers = world.refers(found, number, link);
    if (!world.rule("to_last_byte")) {
      leaveGate();
    }
  }

  private void mark(Phase next) {
    serving = found;
    phase = next;
  }

  private void refuse(@Nullable FaultCode code) {
    phase = Phase.REFUSED;
    serving = null;
    world.refused(code);
  }

  private boolean copies() {
    return world.references().mode() == ExploredReferences.Mode.COPY;
  }

  private void copy() {
    chunks--;
    phase = Phase.ENTERED;
    world.touched();
  }

  private void refer() {
    chunks--;
    if (refers) {
      world.references().refer(number);
    } else {
      world.touched();
    }
    if (chunks == 0) {
      leave(Phase.REPLIED);
    }
  }

  private void leave(Phase next) {
    phase = next;
    if (inside) {
      leaveGate();
    }
    serving = null;
  }

  private void leaveGate() {
    inside = false;
    Objects.requireNonNull(found).leave();
  }

  List<Object> fingerprint() {
    return List.of(phase, chunks, inside, refers, serving != null);
  }
}
