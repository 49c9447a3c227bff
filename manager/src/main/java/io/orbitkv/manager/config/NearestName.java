package io.orbitkv.manager.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the name that somebody probably meant. */
final class NearestName {
  private NearestName() {}

  /**
   * The known name with the fewest edits to {@code wrong}.
   *
   * @param known at least one
   */
  static String of(String wrong, Collection<String> known) {
    return known.stream()
        .min(
            Comparator.comparingInt((String name) -> edits(wrong, name))
                .thenComparing(name -> name))
        .orElseThrow();
  }

  /**
   * The known name that differs in so few letters that it was probably meant.
   *
   * @param prefix that all have, and that is no sign of kinship
   */
  static Optional<String> closeTo(String wrong, String prefix, Collection<String> known) {
    String nearest = of(wrong, known);
    int close = Math.min(3, (wrong.length() - prefix.length() + 2) / 3);
    return edits(wrong, nearest) <= close ? Optional.of(nearest) : Optional.empty();
  }

  /** Levenshtein distance. */
  private static int edits(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(change, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}
