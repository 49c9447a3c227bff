package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A trace in the form of the public ones, with what a cache that never forgets would do with it.
 *
 * @param requests the hashes of each request, none twice in one
 */
public record Trace(List<List<Long>> requests) {
  private static final int SYSTEM_PROMPTS = 3;
  private static final int PROMPT_BLOCKS = 6;

  /** Conversations that go on in turns, each behind one of a few system prompts. */
  public static Trace conversations(long seed, int requests, int conversations) {
    Random random = new Random(seed);
    List<List<Long>> histories = new ArrayList<>();
    List<List<Long>> all = new ArrayList<>();
    long next = SYSTEM_PROMPTS * PROMPT_BLOCKS;
    for (int i = 0; i < requests; i++) {
      if (histories.size() < conversations) {
        histories.add(systemPrompt(random.nextInt(SYSTEM_PROMPTS)));
      }
      int which = random.nextInt(histories.size());
      List<Long> longer = new ArrayList<>(histories.get(which));
      for (int blocks = 1 + random.nextInt(4); blocks > 0; blocks--) {
        longer.add(next++);
      }
      all.add(List.copyOf(longer));
      histories.set(which, longer);
      if (longer.size() > 30) {
        histories.remove(which);
      }
    }
    return new Trace(all);
  }

  private static List<Long> systemPrompt(int which) {
    List<Long> blocks = new ArrayList<>();
    for (long i = 0; i < PROMPT_BLOCKS; i++) {
      blocks.add((long) which * PROMPT_BLOCKS + i);
    }
    return blocks;
  }

  /** Blocks asked for. */
  public long blocks() {
    return requests.stream().mapToLong(List::size).sum();
  }

  /** Different blocks. */
  public long distinct() {
    return requests.stream().flatMap(List::stream).distinct().count();
  }

  /** Hits of a cache that never forgets; a block counts while all before it in its request hit. */
  public long idealHits() {
    Set<Long> seen = new HashSet<>();
    long hits = 0;
    for (List<Long> request : requests) {
      boolean prefix = true;
      for (Long block : request) {
        prefix &= seen.contains(block);
        hits += prefix ? 1 : 0;
      }
      seen.addAll(request);
    }
    return hits;
  }

  /** Writes it. */
  public Path writeTo(Path file) {
    try {
      return Files.writeString(
          file,
          requests.stream()
              .map(
                  hashes ->
                      String.format(
                          Locale.ROOT,
                          "{\"timestamp\": 0, \"input_length\": %d, \"output_length\": 1,"
                              + " \"hash_ids\": %s}%n",
                          512 * hashes.size(),
                          hashes))
              .collect(Collectors.joining()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
