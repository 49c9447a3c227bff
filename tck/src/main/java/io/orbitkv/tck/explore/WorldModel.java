package io.orbitkv.tck.explore;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The model of a {@link World}: a state is a path of steps from a new world, known by the
 * fingerprint at its end. For each visit the world is built anew and led along the path, which
 * costs some hundred small steps a state but needs no copies of real objects. For one exploration;
 * one thread.
 */
public final class WorldModel implements Model<WorldModel.Visit> {
  /** A world at the end of a path. Equal if the fingerprints are, and the beginnings. */
  public static final class Visit {
    private final int start;
    private final @Nullable Visit from;
    private final String by;
    private final Object fingerprint;
    private final List<String> offers;
    private final @Nullable String broken;
    private final boolean ended;

    private Visit(
        int start, @Nullable Visit from, String by, World world, @Nullable String thrown) {
      this.start = start;
      this.from = from;
      this.by = by;
      fingerprint = thrown == null ? world.fingerprint() : thrown;
      broken = thrown == null ? world.broken() : thrown;
      // Nothing is asked of a world that is broken.
      offers =
          broken == null ? Steps.of(world).stream().map(Steps.Offer::what).toList() : List.of();
      ended = broken == null && world.ended();
    }

    private List<String> path() {
      Deque<String> path = new ArrayDeque<>();
      Visit at = this;
      while (at.from != null) {
        path.addFirst(at.by);
        at = at.from;
      }
      return List.copyOf(path);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Visit visit
          && start == visit.start
          && fingerprint.equals(visit.fingerprint);
    }

    @Override
    public int hashCode() {
      return 31 * fingerprint.hashCode() + start;
    }

    @Override
    public String toString() {
      return fingerprint + " after " + path();
    }
  }

  private final List<Supplier<? extends World>> starts;
  private final Map<Visit, Visit> known = new HashMap<>();

  /** The model of worlds that begin in one of several ways; each supplier builds a new one. */
  public WorldModel(List<? extends Supplier<? extends World>> starts) {
    this.starts = List.copyOf(starts);
  }

  @Override
  public List<Visit> initial() {
    List<Visit> visits = new ArrayList<>();
    for (int i = 0; i < starts.size(); i++) {
      try (World world = starts.get(i).get()) {
        visits.add(once(new Visit(i, null, "", world, null)));
      }
    }
    return visits;
  }

  @Override
  public List<Step<Visit>> steps(Visit visit) {
    List<Step<Visit>> steps = new ArrayList<>();
    List<String> path = visit.path();
    for (String what : visit.offers) {
      try (World world = starts.get(visit.start).get()) {
        path.forEach(step -> find(world, step).action().run());
        // Once a visit will do.
        if (steps.isEmpty() && !world.fingerprint().equals(visit.fingerprint)) {
          throw new IllegalStateException(
              "the world is not deterministic: " + visit + ", now " + world.fingerprint());
        }
        Steps.Offer offer = find(world, what);
        String thrown = thrown(offer.action());
        Visit next = once(new Visit(visit.start, visit, what, world, thrown));
        steps.add(new Step<>(what, offer.fault(), next));
      }
    }
    return steps;
  }

  private static Steps.Offer find(World world, String what) {
    Steps.Offer found = Steps.find(world, what);
    if (found == null) {
      throw new IllegalStateException("the world is not deterministic: it offers no more: " + what);
    }
    return found;
  }

  private static @Nullable String thrown(Runnable action) {
    try {
      action.run();
      return null;
    } catch (RuntimeException | AssertionError e) {
      return "WRONG: the last step threw " + e;
    }
  }

  /** The first visit of that fingerprint, from which the later ones must not differ. */
  private Visit once(Visit visit) {
    Visit first = known.putIfAbsent(visit, visit);
    if (first == null) {
      return visit;
    }
    boolean same =
        first.offers.equals(visit.offers)
            && first.ended == visit.ended
            && Objects.equals(first.broken, visit.broken);
    if (!same) {
      throw new IllegalStateException(
          "the fingerprint leaves something out: "
              + first
              + " offers "
              + first.offers
              + ", but "
              + visit
              + " offers "
              + visit.offers);
    }
    return first;
  }

  @Override
  public @Nullable String broken(Visit visit) {
    return visit.broken;
  }

  @Override
  public boolean ended(Visit visit) {
    return visit.ended;
  }
}
