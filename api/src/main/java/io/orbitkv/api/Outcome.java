package io.orbitkv.api;

/**
 * How the work of one ticket ended, as far as its bytes are concerned. Set once, after the last
 * part ended. It says nothing about when memory may be reused: that is the {@link DrainReceipt}.
 */
public sealed interface Outcome {
  /** Every byte is in place and visible to the processor that reads this outcome. */
  record Completed() implements Outcome {
    @Override
    public boolean completed() {
      return true;
    }
  }

  /**
   * The bytes are not in place.
   *
   * @param code why, with its retry class
   * @param message one line: the thing, the cause, the fix
   */
  record Failed(FaultCode code, String message) implements Outcome {
    @Override
    public boolean completed() {
      return false;
    }
  }

  /** The work was cancelled before it completed. */
  record Cancelled() implements Outcome {
    @Override
    public boolean completed() {
      return false;
    }
  }

  /**
   * It can not be told whether the bytes are in place.
   *
   * @param message one line that says what is not known
   */
  record Unknown(String message) implements Outcome {
    @Override
    public boolean completed() {
      return false;
    }
  }

  /** The one value of {@link Completed}. */
  Outcome COMPLETED = new Completed();

  /** The one value of {@link Cancelled}. */
  Outcome CANCELLED = new Cancelled();

  // Not a default method: that would tie the records' class initialization to this interface's.
  /** Whether every byte is in place. */
  boolean completed();
}
