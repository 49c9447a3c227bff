package io.orbitkv.api.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Registration;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** What begins against what ends: never both, and who lost has taken nothing. */
class RacesTest {
  private static final int ROUNDS = 3_000;

  /** Whether it went through; or the code of its refusal. */
  private record Result(boolean done, FaultCode refusal) {}

  private static Result of(Runnable call) {
    try {
      call.run();
      return new Result(true, FaultCode.UNKNOWN);
    } catch (TransportException e) {
      return new Result(false, e.code());
    }
  }

  /** Both at once; the results in order. */
  private static Result[] race(ExecutorService pool, Runnable first, Runnable second)
      throws Exception {
    CyclicBarrier start = new CyclicBarrier(2);
    Future<Result> other =
        pool.submit(
            () -> {
              start.await();
              return of(second);
            });
    start.await();
    Result mine = of(first);
    return new Result[] {mine, other.get()};
  }

  // Guard: the users in RegisteredRegion.beginClose. Without them a round has both.
  @Test
  void submitAgainstClose() throws Exception {
    int submitted = 0;
    try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
      TwoEnds owner = new TwoEnds();
      ImportedGrant source = owner.source();
      for (int round = 0; round < ROUNDS; round++) {
        LentContext context = LentContext.of(8);
        OpenWork work = new OpenWork("requester", context, LentContext.CAPABILITIES);
        Region region = TwoEnds.region(Permission.READ_WRITE);
        Registration registered = work.register(region);
        GatedTicket[] ticket = new GatedTicket[1];
        boolean[] unregistered = new boolean[1];
        Batch batch = TwoEnds.batch(source, region.id(), 0, 8);
        TicketId id = new TicketId(round, context.receipts().epoch());
        context.receipts().open(id);
        Result[] results =
            race(
                pool,
                () -> ticket[0] = work.submit(batch, id, Evidence.LOCAL_QUIESCED, () -> {}),
                () -> {
                  registered.close();
                  unregistered[0] = true;
                  var _ = work.close();
                });
        assertThat(results[0].done() && results[1].done())
            .as("a ticket of a closed transport, round %d", round)
            .isFalse();
        if (results[0].done()) {
          submitted++;
          ticket[0].cancel();
          assertThat(ticket[0].drain()).isPresent();
        }
        if (!results[1].done()) {
          assertThat(results[1].refusal()).isEqualTo(FaultCode.IN_USE);
          if (!unregistered[0]) {
            registered.close();
          }
          assertThat(work.close()).as("closes once it is drained, round %d", round).isTrue();
        }
        assertThat(context.places()).hasValue(0);
      }
    }
    assertThat(submitted).as("rounds that submit won").isBetween(1, ROUNDS - 1);
  }
}
