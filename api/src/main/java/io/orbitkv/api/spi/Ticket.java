package io.orbitkv.api.spi;

import io.orbitkv.api.DrainReceipt;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.TicketId;
import java.util.Optional;
import java.util.function.Consumer;

/** One submitted batch, at the provider. Outcome and receipt are two events. */
public interface Ticket {
  /** Its name. */
  TicketId id();

  /** How it ended; empty while a part of it has not. Set once, after the last part ended. */
  Optional<Outcome> outcome();

  /**
   * Waits for the outcome. The waiting thread may drive the ticket's progress itself.
   *
   * @param nanos how long at most; the end of it changes nothing
   * @return the outcome, or empty if there is none yet
   * @throws InterruptedException if the thread was interrupted; the ticket goes on
   */
  Optional<Outcome> await(long nanos) throws InterruptedException;

  /**
   * Registers the one callback that runs when the outcome is set; at once, in the caller's thread,
   * if it is set already. Otherwise it runs in any thread that is inside the provider: one of its
   * own, or one that awaits or cancels this ticket or another. It must neither block nor throw, and
   * must not await a ticket.
   *
   * @throws IllegalStateException if there is one already
   */
  void onSettled(Consumer<Outcome> callback);

  /** Asks for an early end. A request: only outcome and receipt tell what came of it. */
  void cancel();

  /**
   * Asks for the proof that this ticket can touch its destination no more. Never blocks; may start
   * work that leads to it.
   *
   * @return the receipt, once; empty while there is no outcome or no proof, and after the receipt
   *     was returned
   */
  Optional<DrainReceipt> drain();
}
