package io.orbitkv.systemtests.simulation;

/** The oracle's finding: a rule was broken in this schedule. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Violation(String finding) {
    super(finding);
  }

  Violation(String finding, Throwable cause) {
    super(finding, cause);
  }
}
