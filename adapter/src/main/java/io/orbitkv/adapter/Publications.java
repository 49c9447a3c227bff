package io.orbitkv.adapter;

import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.PublishEntry;
import io.orbitkv.adapter.wire.PublishStatus;
import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The publishes of one client. Thread-safe. */
final class Publications {
  private static final long DIGEST = 1;

  private final ManagerClient client;
  private final Connection connection;
  private final PublishBudget budget;
  private final Set<Publication> retained = ConcurrentHashMap.newKeySet();

  Publications(ManagerClient client, Connection connection, PublishBudget budget) {
    this.client = client;
    this.connection = connection;
    this.budget = budget;
  }

  /**
   * Puts one into the ring.
   *
   * @throws SaveNotSubmitted if it is proven that it is not there
   */
  Publication submit(List<Piece> pieces, PublishOptions options) {
    byte[] descriptor = encode(pieces);
    List<Piece> asked = List.copyOf(pieces);
    long answerBytes = (long) asked.size() * PublishStatus.BYTES;
    PublishBudget.Place place = budget.take(Math.max(descriptor.length, answerBytes));
    RingCall call;
    boolean submitted = false;
    try {
      call = connection.open(Opcode.PUBLISH, descriptor, options.digest() ? DIGEST : 0, 0);
      submitted = true;
    } finally {
      if (!submitted) {
        place.giveBack();
      }
    }
    CompletableFuture<List<PublishResult>> results = new CompletableFuture<>();
    Publication publication = new Publication(results, connection, options.overdueAfter());
    retained.add(publication);
    var _ =
        call.future()
            .thenApply(answer -> Answers.published(Answers.unlessRefused(answer), asked))
            .whenComplete(
                (published, fault) -> {
                  publication.ended(fault);
                  place.giveBack();
                  if (fault == null) {
                    results.complete(published);
                  } else {
                    results.completeExceptionally(Answers.cause(fault));
                  }
                  if (!publication.retained()) {
                    retained.remove(publication);
                  }
                });
    return publication;
  }

  PublishActivity activity() {
    int active = 0;
    int held = 0;
    int overdue = 0;
    retained.removeIf(publication -> !publication.retained());
    for (Publication publication : retained) {
      held++;
      active += publication.active() ? 1 : 0;
      overdue += publication.overdue() ? 1 : 0;
    }
    return new PublishActivity(active, held, overdue, connection.managerAlive());
  }

  private byte[] encode(List<Piece> pieces) {
    if (pieces.isEmpty() || pieces.size() > PublishEntry.LIMIT) {
      throw new IllegalArgumentException(
          "publish of " + pieces.size() + " blocks; allowed are 1 to " + PublishEntry.LIMIT);
    }
    List<PublishEntry> entries = new ArrayList<>(pieces.size());
    for (Piece piece : pieces) {
      if (!piece.memory().isOf(client)) {
        throw new IllegalArgumentException(
            "block " + piece.name() + " is in memory of another client; publish it there");
      }
      RegistrationId id = piece.memory().registration();
      entries.add(
          new PublishEntry(piece.name(), id.id(), id.generation(), piece.offset(), piece.bytes()));
    }
    return PublishEntry.encode(entries);
  }

  /** What a blocking publish tells when its time is up. */
  static TransportException pending(Object timeout) {
    return new TransportException(
        FaultCode.DEADLINE, "PUBLISH: no answer within " + timeout + "; it goes on");
  }
}
