package io.orbitkv.cli.replay;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * Makes the trace that is shipped for {@code orbitkv quickstart}: conversations of several turns
 * that begin with one of a few system prompts and go on side by side. Each turn's prompt is the
 * conversation so far (with the answers) and a new question. Blocks are numbered in the order in
 * which they first come; the same seed gives the same trace for ever.
 */
final class ConversationTrace {
  static final int TOKENS_PER_BLOCK = 16;
  private static final long SEED = 20260101;
  private static final int REQUESTS = 240;
  private static final int[] SYSTEM_PROMPT_BLOCKS = {12, 16, 8, 10};
  private static final int MAX_ACTIVE = 6;

  private static final class Conversation {
    final List<Long> prompt = new ArrayList<>();
    int turnsLeft;
    int answerTokens;
  }

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final List<List<Long>> systemPrompts = new ArrayList<>();
  private final List<Conversation> active = new ArrayList<>();
  private long nextBlock;

  private ConversationTrace() {}

  /** Writes the trace to the file named by the only argument. */
  public static void main(String[] args) throws IOException {
    Files.write(Path.of(args[0]), lines());
  }

  /** The lines of the trace. */
  static List<String> lines() {
    return new ConversationTrace().make();
  }

  private List<String> make() {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < SYSTEM_PROMPT_BLOCKS.length; i++) {
      systemPrompts.add(new ArrayList<>());
    }
    long millis = 0;
    for (int i = 0; i < REQUESTS; i++) {
      Conversation conversation = pick();
      append(conversation.prompt, blocks(conversation.answerTokens));
      int question = random.nextInt(1, 5);
      append(conversation.prompt, question);
      conversation.answerTokens = random.nextInt(8, 5 * TOKENS_PER_BLOCK);
      conversation.turnsLeft--;
      lines.add(line(millis, conversation));
      if (conversation.turnsLeft == 0) {
        active.remove(conversation);
      }
      millis += random.nextInt(20, 400);
    }
    return lines;
  }

  private Conversation pick() {
    if (active.isEmpty() || (active.size() < MAX_ACTIVE && random.nextInt(3) == 0)) {
      Conversation conversation = new Conversation();
      int kind = random.nextInt(systemPrompts.size());
      List<Long> system = systemPrompts.get(kind);
      if (system.isEmpty()) {
        append(system, SYSTEM_PROMPT_BLOCKS[kind]);
      }
      conversation.prompt.addAll(system);
      conversation.turnsLeft = random.nextInt(2, 8);
      active.add(conversation);
      return conversation;
    }
    return active.get(random.nextInt(active.size()));
  }

  private void append(List<Long> prompt, int blocks) {
    for (int i = 0; i < blocks; i++) {
      prompt.add(nextBlock++);
    }
  }

  private static int blocks(int tokens) {
    return (tokens + TOKENS_PER_BLOCK - 1) / TOKENS_PER_BLOCK;
  }

  private static String line(long millis, Conversation conversation) {
    return "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": %d, \"hash_ids\": [%s]}"
        .formatted(
            millis,
            conversation.prompt.size() * TOKENS_PER_BLOCK,
            conversation.answerTokens,
            conversation.prompt.stream().map(String::valueOf).collect(Collectors.joining(", ")));
  }
}
