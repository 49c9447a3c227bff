package io.orbitkv.adapter.restore;

/**
 * What an engine says about one record, in its session's own word.
 *
 * <pre>
 * NONE --&gt; ACTIVE --part ended--&gt; PART_DRAINED --last part ended--&gt; DRAINED, FAILED
 *             \-------------------the only part ended------------------^
 *             \-------------------did not copy: FAILED-----------------^
 * </pre>
 */
public enum EngineState {
  /** It has not claimed the record in this generation. */
  NONE(0),
  /** It may copy from the source. */
  ACTIVE(1),
  /** As ACTIVE; at least one part of the plan has ended, and at least one has not. */
  PART_DRAINED(2),
  /** Every part has ended, and every one is whole. */
  DRAINED(3),
  /** It did not copy; or every part has ended, and not every one is whole. */
  FAILED(4);

  private final int code;

  EngineState(int code) {
    this.code = code;
  }

  /** The word that says so of a record of this generation. */
  public long word(long generation) {
    return RestoreWord.encode(generation, code);
  }

  /**
   * What a word says about a generation; a word of another generation says NONE.
   *
   * @throws IllegalStateException if it is of this generation and its code is none of an engine's
   */
  public static EngineState read(long word, long generation) {
    if (RestoreWord.generation(word) != generation) {
      return NONE;
    }
    int code = RestoreWord.code(word);
    if (code >= values().length) {
      throw new IllegalStateException(
          "engine word 0x%x of generation %d: code %d is no state of an engine; its writer is broken"
              .formatted(word, generation, code));
    }
    return values()[code];
  }

  /** Whether it is the last one of a generation: nothing copies any more. */
  public boolean isEnd() {
    return this == DRAINED || this == FAILED;
  }

  /** Whether one store may follow the other. */
  public boolean canBecome(EngineState next) {
    return switch (this) {
      case NONE -> next == ACTIVE;
      case ACTIVE -> next == PART_DRAINED || next.isEnd();
      case PART_DRAINED -> next.isEnd();
      case DRAINED, FAILED -> false;
    };
  }

  /** Whether a reader that saw this one may see the other, now or later. */
  public boolean reaches(EngineState later) {
    return this == later || this == NONE || canBecome(later);
  }
}
