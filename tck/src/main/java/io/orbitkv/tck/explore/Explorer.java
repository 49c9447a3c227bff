package io.orbitkv.tck.explore;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Breadth-first search for the first problem of a model. One thread. */
public final class Explorer<S> {
  /** A state, how it was first reached, and from where steps that are no fault lead to it. */
  private static final class Node<S> {
    final S state;
    final @Nullable Node<S> from;
    final String by;
    final List<Node<S>> before = new ArrayList<>();
    boolean live;

    Node(S state, @Nullable Node<S> from, String by) {
      this.state = state;
      this.from = from;
      this.by = by;
    }
  }

  private final Model<S> model;
  private final int mostStates;

  /** In the order of discovery, so that of several findings the first is a nearest one. */
  private final Map<S, Node<S>> nodes = new LinkedHashMap<>();

  private final Deque<Node<S>> unvisited = new ArrayDeque<>();

  private Explorer(Model<S> model, int mostStates) {
    this.model = model;
    this.mostStates = mostStates;
  }

  /**
   * Explores until a state is broken or every state was visited; in the second case looks for one
   * from which nothing ends.
   *
   * @param mostStates how many states the model may have; a bound against a model that never ends
   * @throws IllegalStateException if it has more, or begins nowhere
   */
  public static <S> Exploration explore(Model<S> model, int mostStates) {
    return new Explorer<>(model, mostStates).search();
  }

  private Exploration search() {
    for (S state : model.initial()) {
      Node<S> node = node(state, null, "");
      String problem = model.broken(node.state);
      if (problem != null) {
        return found(node, problem);
      }
    }
    if (nodes.isEmpty()) {
      throw new IllegalStateException("the model has no initial state");
    }
    while (!unvisited.isEmpty()) {
      Node<S> node = unvisited.remove();
      for (Step<S> step : model.steps(node.state)) {
        Node<S> next = node(step.next(), node, (step.fault() ? "fault: " : "") + step.what());
        if (!step.fault()) {
          next.before.add(node);
        }
        // A state that was known before was looked at before.
        String problem = next.from == node ? model.broken(next.state) : null;
        if (problem != null) {
          return found(next, problem);
        }
      }
    }
    spread(nodes.values());
    for (Node<S> node : nodes.values()) {
      if (!node.live) {
        return found(node, Exploration.STUCK);
      }
    }
    return new Exploration(nodes.size(), null, List.of());
  }

  private Node<S> node(S state, @Nullable Node<S> from, String by) {
    Node<S> known = nodes.get(state);
    if (known != null) {
      return known;
    }
    if (nodes.size() == mostStates) {
      throw new IllegalStateException(
          "the model has more than "
              + mostStates
              + " states; make it smaller, or the bound larger");
    }
    Node<S> node = new Node<>(state, from, by);
    nodes.put(state, node);
    unvisited.add(node);
    return node;
  }

  /** Marks what has ended, and backwards from there whatever can get there. */
  private void spread(Collection<Node<S>> all) {
    Deque<Node<S>> marked = new ArrayDeque<>();
    for (Node<S> node : all) {
      node.live = model.ended(node.state);
      if (node.live) {
        marked.add(node);
      }
    }
    while (!marked.isEmpty()) {
      for (Node<S> node : marked.remove().before) {
        if (!node.live) {
          node.live = true;
          marked.add(node);
        }
      }
    }
  }

  private Exploration found(Node<S> where, String problem) {
    Deque<String> trace = new ArrayDeque<>();
    Node<S> at = where;
    while (at.from != null) {
      trace.addFirst(at.by);
      at = at.from;
    }
    return new Exploration(nodes.size(), problem, List.copyOf(trace));
  }
}
