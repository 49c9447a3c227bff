package io.orbitkv.provider.tcp;

import io.orbitkv.tck.explore.World;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The rules of the two halves of an orbitte-tcp READ. Each can be left out alone, by a mutant of
 * {@link Gate} or by a mistake of the world around the real classes; then something must be found.
 */
enum ExploredRule {
  RETIRED_FIRST(
      "the hold is drained only once the token is retired",
      "UNSAFE",
      ExploredGates.CountOnly.class),
  ATOMIC_ENTRY(
      "the check of the token and the entry are one step",
      "UNSAFE",
      ExploredGates.CheckThenEnter.class),
  TO_LAST_BYTE("a handler counts from its entry to the last byte", "UNSAFE", Half.SOURCE),
  COMPLETE_FREES_NOTHING("Complete alone frees nothing", "UNSAFE", Half.SOURCE),
  SHUTDOWN("a stuck call is ended by shutdown()", "STUCK", Half.BOTH),
  MARKED_FIRST("a thread is marked before it enters, so that it is found", "STUCK", Half.BOTH),
  ZEROCOPY_NOTIFIED("every send is notified", "UNSAFE", Half.SOURCE),
  ZEROCOPY_ABORT("a stuck send is ended by connect(AF_UNSPEC)", "STUCK", Half.SOURCE),
  ERRORS_BEFORE_CLOSE("the error queue is read before close", "STUCK", Half.SOURCE),
  SENDFILE_WORD("only the requester's word ends a reference", "UNSAFE", Half.SOURCE),
  WORD_FOR_EVERY_READ("a word for every READ entered", "UNSAFE", Half.SOURCE),
  RESET_BEFORE_WORD(
      "a word by another connection counts once this end is reset", "UNSAFE", Half.SOURCE),
  EARLY_WORD("a word ahead of its READ lets nothing be referred to", "STUCK", Half.SOURCE),
  SILENCE_IS_QUARANTINE("a dead or frozen peer: quarantine", "UNSAFE", Half.SOURCE),
  DEADLINE_FREES_NOTHING("a deadline frees nothing", "UNSAFE", Half.DESTINATION),
  ENTRY_CHECKS_TICKET(
      "every entry checks the ticket", "UNSAFE", Half.DESTINATION, ExploredGates.Unchecked.class),
  THREAD_HAS_LEFT(
      "the receipt waits until the thread has left",
      "UNSAFE",
      Half.DESTINATION,
      ExploredGates.Impatient.class),
  IDS_USED_ONCE("request ids are used once", "UNSAFE", Half.DESTINATION),
  ABANDONED_ID_KNOWN("an abandoned id stays known", "WRONG", Half.DESTINATION),
  READ_TO_END("an abandoned reply is read to its end", "WRONG", Half.DESTINATION),
  LAST_PART_FIRST("a ticket completes after its last part", "WRONG", Half.DESTINATION),
  ONLY_WHO_IS_STUCK("only who is still inside is shut down", "WRONG", Half.DESTINATION);

  enum Half {
    SOURCE,
    DESTINATION,
    BOTH
  }

  final String words;
  final String finding;
  final Half half;
  final @Nullable Class<?> mutant;

  ExploredRule(String words, String finding, Half half) {
    this.words = words;
    this.finding = finding;
    this.half = half;
    mutant = null;
  }

  ExploredRule(String words, String finding, Class<?> mutant) {
    this(words, finding, Half.SOURCE, mutant);
  }

  ExploredRule(String words, String finding, Half half, Class<?> mutant) {
    this.words = words;
    this.finding = finding;
    this.half = half;
    this.mutant = mutant;
  }

  /** What the worlds call it. */
  String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The beginnings of the source's half without one rule, or with all of them. */
  static List<Supplier<World>> source(@Nullable ExploredRule without) {
    String key = without == null ? "" : without.key();
    Class<?> mutant = without == null ? null : without.mutant;
    List<Supplier<World>> starts = new ArrayList<>();
    for (String mode : modes(without)) {
      starts.add(ExploredLoader.worlds(ExploredSource.class, mutant, key, mode, 1));
      if (without == null && mode.equals("COPY")) {
        starts.add(ExploredLoader.worlds(ExploredSource.class, mutant, key, mode, 2));
      }
    }
    return starts;
  }

  /** The ways to send in which a rule matters. */
  private static List<String> modes(@Nullable ExploredRule rule) {
    return switch (rule) {
      case ZEROCOPY_NOTIFIED, ZEROCOPY_ABORT, ERRORS_BEFORE_CLOSE -> List.of("ZEROCOPY");
      case SENDFILE_WORD,
          WORD_FOR_EVERY_READ,
          RESET_BEFORE_WORD,
          EARLY_WORD,
          SILENCE_IS_QUARANTINE ->
          List.of("SENDFILE");
      case null -> List.of("COPY", "ZEROCOPY", "SENDFILE");
      default -> List.of("COPY");
    };
  }

  /** The same of the destination's half. */
  static List<Supplier<World>> destination(@Nullable ExploredRule without) {
    List<Supplier<World>> starts = new ArrayList<>();
    if (without != LAST_PART_FIRST) {
      starts.add(destination(without, true, 1, false));
      starts.add(destination(without, false, 1, false));
    }
    if (without == null || without == LAST_PART_FIRST) {
      starts.add(destination(without, true, 2, false));
    }
    if (without == null) {
      starts.add(destination(null, true, 1, true));
    }
    return starts;
  }

  private static Supplier<World> destination(
      @Nullable ExploredRule without, boolean byOrder, int parts, boolean polls) {
    return ExploredLoader.worlds(
        ExploredDestination.class,
        without == null ? null : without.mutant,
        without == null ? "" : without.key(),
        byOrder,
        parts,
        polls);
  }
}
