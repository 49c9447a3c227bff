package io.orbitkv.adapter.restore;

/**
 * What the Manager says about one record, in its own word.
 *
 * <pre>
 * NONE --&gt; GRANTED --&gt; REVOKED --every engine word has ended--&gt; REAPED
 *             \----------every session drained-----------------^
 * </pre>
 */
public enum ManagerState {
  /** Nothing about this generation. */
  NONE(0),
  /** The plan is written, its source is pinned: an engine may claim. */
  GRANTED(0x11),
  /** No engine may begin to copy; one that has begun may go on. */
  REVOKED(0x12),
  /** The source was released. */
  REAPED(0x13);

  private final int code;

  ManagerState(int code) {
    this.code = code;
  }

  /** The word that says so of a record of this generation. */
  public long word(long generation) {
    return RestoreWord.encode(generation, code);
  }

  /** What a word says about a generation; another generation, or an unknown code, says NONE. */
  public static ManagerState read(long word, long generation) {
    if (RestoreWord.generation(word) == generation) {
      for (ManagerState state : values()) {
        if (state.code == RestoreWord.code(word)) {
          return state;
        }
      }
    }
    return NONE;
  }

  /** Whether one store may follow the other. */
  public boolean canBecome(ManagerState next) {
    return switch (this) {
      case NONE -> next == GRANTED;
      case GRANTED -> next == REVOKED || next == REAPED;
      case REVOKED -> next == REAPED;
      case REAPED -> false;
    };
  }
}
