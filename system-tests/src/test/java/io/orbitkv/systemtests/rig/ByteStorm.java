package io.orbitkv.systemtests.rig;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.QueryOptions;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/**
 * Reads of one requester, one after the other, each of which is cancelled while its stream stands
 * at a byte that the seed chose: payload has passed before it, and payload is missing behind it.
 * The cancel is that of the read's deadline, which an engine is answered by at once, whereas the
 * ticket ends by its own evidence once the rest of the reply comes.
 *
 * <p>How long a read may take is learned: so short that a storm is one, and so long that its byte
 * is reached before. A read whose time was over too soon counts for nothing, and another takes its
 * place. One thread at a time.
 */
public final class ByteStorm {
  private static final int MOST_PAGES = 8;
  private static final int HEADER_BYTES = 40;
  private static final int READS_OF_A_SESSION = 500;
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final long SHORTEST_NANOS = 3_000_000;
  private static final long LONGEST_NANOS = 1_000_000_000;

  /** More of them than of the others would be a machine that does nothing else. */
  private static final int TRIES_OF_EACH = 3;

  private final Rig.ProxiedPair pair;
  private final List<Page> pages;
  private final Random random;
  private long patienceNanos = 20_000_000;

  /** Reads these pages of A, which are all equally long, from B; no other stream may be open. */
  public ByteStorm(Rig.ProxiedPair pair, List<Page> pages, long seed) {
    this.pair = pair;
    this.pages = pages;
    this.random = new Random(seed);
  }

  /**
   * What became of some reads.
   *
   * @param inTheMiddle cancelled in the middle of their bytes
   * @param tooSoon cancelled before their byte was reached
   */
  public record Result(int inTheMiddle, int tooSoon) {}

  /** Whose reads these are. */
  public ManagerProcess requester() {
    return pair.b();
  }

  /** So many reads that are cancelled in the middle of their bytes. */
  public Result run(int reads) throws InterruptedException {
    int inTheMiddle = 0;
    int tooSoon = 0;
    while (inTheMiddle < reads) {
      pair.b().awaitQuiet(SOON);
      try (Engine engine = pair.b().engine()) {
        for (int i = 0; i < READS_OF_A_SESSION && inTheMiddle < reads; i++) {
          if (cancelAtItsByte(engine)) {
            inTheMiddle++;
            patienceNanos = Math.max(SHORTEST_NANOS, patienceNanos - patienceNanos / 32);
          } else {
            tooSoon++;
            patienceNanos = Math.min(LONGEST_NANOS, 2 * patienceNanos);
          }
          if (tooSoon > TRIES_OF_EACH * reads) {
            throw new AssertionError(pair.b() + " does not come to " + reads + " reads");
          }
        }
      }
    }
    return new Result(inTheMiddle, tooSoon);
  }

  private boolean cancelAtItsByte(Engine engine) throws InterruptedException {
    int count = 1 + random.nextInt(MOST_PAGES);
    int first = random.nextInt(pages.size() - count + 1);
    List<Page> asked = pages.subList(first, first + count);
    int payload = count * asked.getFirst().bytes();
    int at = HEADER_BYTES + 1 + random.nextInt(payload - 1);
    Valve valve = pair.data().valve();
    long begin = valve.total();
    valve.holdAfter(at);
    boolean reached;
    QueryOptions options = QueryOptions.FETCH.withDeadline(Duration.ofNanos(patienceNanos));
    try (BlockLease lease = engine.lease(asked, options)) {
      reached = valve.total() == begin + at;
      if (!lease.blocks().isEmpty()) {
        throw new AssertionError(
            lease.blocks().size() + " blocks came whose bytes were held at byte " + at);
      }
    } finally {
      valve.open();
    }
    if (!reached) {
      awaitNothingInFlight();
    } else if (!valve.awaitTotal(begin + HEADER_BYTES + payload, SOON)) {
      throw new AssertionError(
          "the rest of a reply of "
              + payload
              + " bytes that was held at byte "
              + at
              + " did not come: "
              + (valve.total() - begin));
    }
    return reached;
  }

  /** Where a read ended is not known: the stream has nothing of it once its ticket is drained. */
  private void awaitNothingInFlight() {
    Await.until(
        pair.b() + " awaits no reply",
        SOON,
        () -> {
          Status status = pair.b().status();
          return status.number("transport.requests_in_flight") == 0
              && status.number("tickets.undrained") == 0;
        },
        () -> pair.b().status().json().toString());
  }
}
