package io.orbitkv.systemtests.rig;

import io.orbitkv.adapter.QueryOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An engine that asks for pages over and over, a few at a time, in a thread of its own, and checks
 * what comes. Whatever a query throws is kept, and told by {@link #close}.
 */
public final class Readers implements AutoCloseable {
  private final Thread thread;
  private final AtomicInteger hits = new AtomicInteger();
  private final AtomicInteger rounds = new AtomicInteger();
  private final AtomicInteger missesInARow = new AtomicInteger();
  private volatile boolean stopped;
  private volatile @Nullable Throwable failure;

  private Readers(Path socket, List<List<Page>> groups, QueryOptions options) {
    thread =
        Thread.ofPlatform()
            .daemon()
            .name("reader")
            .start(
                () -> {
                  try (Engine engine = Engine.attach(socket)) {
                    read(engine, groups, options);
                  } catch (RuntimeException | Error e) {
                    failure = e;
                  }
                });
  }

  /** Reads groups of so many pages, in order, each once and then from the start again. */
  public static Readers start(Path socket, List<Page> pages, int atOnce, QueryOptions options) {
    List<List<Page>> groups = new ArrayList<>();
    for (int at = 0; at < pages.size(); at += atOnce) {
      groups.add(pages.subList(at, Math.min(pages.size(), at + atOnce)));
    }
    return new Readers(socket, groups, options);
  }

  private void read(Engine engine, List<List<Page>> groups, QueryOptions options) {
    while (!stopped) {
      for (List<Page> group : groups) {
        int found = engine.read(group, options).size();
        hits.addAndGet(found);
        rounds.incrementAndGet();
        missesInARow.set(found == 0 ? missesInARow.get() + 1 : 0);
        if (stopped) {
          return;
        }
      }
    }
  }

  /** Pages that came, all of them right. */
  public int hits() {
    check();
    return hits.get();
  }

  /** Queries that were answered. */
  public int rounds() {
    check();
    return rounds.get();
  }

  /** Queries in a row up to now in which nothing came. */
  public int missesInARow() {
    check();
    return missesInARow.get();
  }

  /** Whether a query has thrown, waiting for it a while. */
  public boolean failed() {
    stopped = true;
    try {
      thread.join(10_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return failure != null;
  }

  /** Stops and waits for the query under way; throws what a query has thrown. */
  @Override
  public void close() {
    stopped = true;
    try {
      thread.join(30_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    check();
    if (thread.isAlive()) {
      throw new AssertionError("a query was not answered in 30 s");
    }
  }

  private void check() {
    Throwable known = failure;
    if (known != null) {
      throw new AssertionError("a reader failed: " + known, known);
    }
  }
}
