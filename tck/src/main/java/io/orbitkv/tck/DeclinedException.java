package io.orbitkv.tck;

import org.opentest4j.TestAbortedException;

/** Ends a test that the fixture declined; its message is the declared reason. */
final class DeclinedException extends TestAbortedException {
  private static final long serialVersionUID = 1L;

  DeclinedException(String reason) {
    super(reason);
  }
}
