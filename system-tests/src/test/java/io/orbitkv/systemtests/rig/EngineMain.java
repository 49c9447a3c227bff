package io.orbitkv.systemtests.rig;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/** The program of {@link EngineProcess}; it goes on with its task until it is killed. */
public final class EngineMain {
  /** Publishes {@link #LEASED}, says {@code leased} once it holds a lease on it, and waits. */
  public static final String HOLD = "hold";

  /** Says {@code publishing} and publishes {@link #PUBLISHED} over and over. */
  public static final String PUBLISH = "publish";

  /** Says {@code fetching} and asks for {@link #FETCHED}, wherever they are. */
  public static final String FETCH = "fetch";

  /** Uses the channel for a while, says {@code idle} and uses it no more. */
  public static final String IDLE = "idle";

  /** What {@link #FETCH} asks for. */
  public static final List<Page> FETCHED = Page.of(6, 1, 16, 1 << 20).toList();

  /** What {@link #HOLD} publishes and leases. */
  public static final Page LEASED = new Page(7, 0, 1, 1 << 20);

  /** What {@link #PUBLISH} publishes, 64 at a time, each generation once. */
  public static final Page PUBLISHED = new Page(8, 0, 1, 512 << 10);

  private static final int AT_ONCE = 64;
  private static final int WARM_UP = 2_000;

  private EngineMain() {}

  /** Attaches to the socket of the first argument and does the task of the second. */
  public static void main(String[] arguments) {
    try (Engine engine = Engine.attach(Path.of(arguments[0]))) {
      switch (arguments[1]) {
        case HOLD -> hold(engine);
        case FETCH -> fetch(engine);
        case IDLE -> idle(engine);
        default -> publish(engine);
      }
    }
  }

  /** The pages of one round of {@link #PUBLISH}. */
  public static List<Page> round(int generation) {
    return IntStream.range(0, AT_ONCE)
        .mapToObj(i -> new Page(PUBLISHED.request(), i, generation, PUBLISHED.bytes()))
        .toList();
  }

  private static void hold(Engine engine) {
    hold(engine, "leased");
  }

  private static void hold(Engine engine, String word) {
    engine.store(List.of(LEASED));
    try (BlockLease lease =
        engine.client().queryAndWait(List.of(LEASED.name()), QueryOptions.LOCAL)) {
      say(lease.blocks().isEmpty() ? "missed" : word);
      while (true) {
        LockSupport.park();
      }
    }
  }

  private static void idle(Engine engine) {
    for (int i = 0; i < WARM_UP; i++) {
      engine.client().ping();
    }
    hold(engine, "idle");
  }

  private static void fetch(Engine engine) {
    List<BlockName> names = FETCHED.stream().map(Page::name).toList();
    var found =
        engine.client().query(names, QueryOptions.FETCH.withDeadline(Duration.ofMinutes(1)));
    say("fetching");
    found.join().close();
  }

  private static void publish(Engine engine) {
    long bytes = (long) AT_ONCE * PUBLISHED.bytes();
    try (RegisteredMemory memory = engine.client().allocate(bytes)) {
      for (int generation = 1; ; generation++) {
        List<Page> round = round(generation);
        for (int i = 0; i < round.size(); i++) {
          round.get(i).fill(memory.segment().asSlice((long) i * PUBLISHED.bytes()));
        }
        var answer =
            engine
                .client()
                .publish(
                    IntStream.range(0, round.size())
                        .mapToObj(
                            i ->
                                new Piece(
                                    round.get(i).name(),
                                    memory,
                                    (long) i * PUBLISHED.bytes(),
                                    PUBLISHED.bytes()))
                        .toList());
        if (generation == 2) {
          say("publishing");
        }
        answer.future().join();
      }
    }
  }

  private static void say(String word) {
    System.out.println(word);
    System.out.flush();
  }
}
