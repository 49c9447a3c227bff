package io.orbitkv.cli;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The KV cache of a model, as its block has it: K and V of every layer for so many tokens.
 *
 * @param model name of the model
 * @param layers layers that have a KV cache
 * @param kvHeads heads of K, and of V, in a layer
 * @param headDimension elements of a head
 * @param tokens tokens in a block
 * @param elementBytes length of an element; 2 for bf16
 */
record KvShape(
    String model, int layers, int kvHeads, int headDimension, int tokens, int elementBytes) {
  /** What quickstart knows; figures of the models' published configurations, bf16. */
  static final List<KvShape> KNOWN =
      List.of(
          bf16("llama-3-8b", 32, 8, 128),
          bf16("llama-3-70b", 80, 8, 128),
          bf16("llama-3.2-1b", 16, 8, 64),
          bf16("mistral-7b", 32, 8, 128),
          bf16("qwen2.5-0.5b", 24, 2, 64),
          bf16("qwen2.5-7b", 28, 4, 128),
          bf16("qwen2.5-72b", 80, 8, 128),
          bf16("gemma-2-9b", 42, 8, 256));

  private static KvShape bf16(String model, int layers, int kvHeads, int headDimension) {
    return new KvShape(model, layers, kvHeads, headDimension, 16, 2);
  }

  /**
   * The shape of a model.
   *
   * @throws IllegalArgumentException if it is not known: names those that are
   */
  static KvShape named(String model) {
    return KNOWN.stream()
        .filter(shape -> shape.model.equals(model))
        .findAny()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "--model "
                        + model
                        + " is not known; give one of "
                        + KNOWN.stream().map(KvShape::model).collect(Collectors.joining(", "))));
  }

  /** Length of a block: tokens x layers x 2 (K and V) x heads x dimension x bytes of an element. */
  long blockBytes() {
    return 2L * tokens * layers * kvHeads * headDimension * elementBytes;
  }

  /** How {@link #blockBytes} comes about, for people. */
  String arithmetic() {
    return "%d tokens x %d layers x 2 (K, V) x %d heads x %d x %d bytes"
        .formatted(tokens, layers, kvHeads, headDimension, elementBytes);
  }
}
