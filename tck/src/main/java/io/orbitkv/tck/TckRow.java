package io.orbitkv.tck;

/**
 * What became of one test.
 *
 * @param suite the suite's title
 * @param test the test's name, with its argument if it has one
 * @param result what became of it
 * @param reason why it failed or was skipped, one line; empty if it passed
 * @param nanos how long it took, ns
 */
public record TckRow(String suite, String test, Result result, String reason, long nanos) {
  /** What can become of a test. */
  public enum Result {
    /** It held. */
    PASSED,
    /** It did not. */
    FAILED,
    /** The fixture declined it with a reason. */
    SKIPPED
  }
}
