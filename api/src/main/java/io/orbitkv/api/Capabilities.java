package io.orbitkv.api;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * What a provider binds itself to. The Manager refuses, at start, a backend whose evidence is not
 * enough, and never asks for what is not declared; the compatibility kit holds a provider to every
 * line.
 *
 * @param memory the kinds of memory that {@code register} takes
 * @param evidence the evidence that its receipts can carry, per side; {@link
 *     Evidence#NEVER_SUBMITTED} need not be named
 * @param maxReadBytes payload of one batch, bytes
 * @param maxDescriptors pieces of one batch, strided ones counted by their pieces
 * @param cancels whether a cancel can end work before it completes by itself
 * @param strided whether strided descriptors travel without being split
 */
public record Capabilities(
    Set<MemoryKind.Type> memory,
    Map<Side, Set<Evidence>> evidence,
    long maxReadBytes,
    int maxDescriptors,
    boolean cancels,
    boolean strided) {
  /** Copies the sets. */
  public Capabilities {
    memory = Set.copyOf(memory);
    evidence =
        Map.of(
            Side.DESTINATION, Set.copyOf(evidence.getOrDefault(Side.DESTINATION, Set.of())),
            Side.SOURCE, Set.copyOf(evidence.getOrDefault(Side.SOURCE, Set.of())));
    if (maxReadBytes < 1 || maxDescriptors < 1) {
      throw new IllegalArgumentException(
          "a provider that moves " + maxReadBytes + " bytes in " + maxDescriptors + " pieces");
    }
  }

  /** The evidence for one side. */
  public Set<Evidence> evidence(Side side) {
    return evidence.getOrDefault(side, EnumSet.noneOf(Evidence.class));
  }
}
