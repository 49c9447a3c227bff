package io.orbitkv.manager;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;

/** Puts what a provider threw into one line that names it. */
final class ProviderFault {
  private ProviderFault() {}

  /** Its own fault as it is; anything else, which the SPI does not know, as INTERNAL. */
  static TransportException of(String backend, String call, Throwable thrown) {
    if (thrown instanceof TransportException known) {
      return known;
    }
    return new TransportException(
        FaultCode.INTERNAL,
        "provider "
            + backend
            + ": its "
            + call
            + " threw "
            + text(thrown)
            + "; "
            + (thrown instanceof LinkageError
                ? "install the library or class that it lacks, or its right version"
                : "ask who made it"),
        thrown);
  }

  /** What was thrown and, of an initializer that failed, why; one line. */
  static String text(Throwable thrown) {
    Throwable cause = thrown.getCause();
    String text =
        thrown instanceof LinkageError && cause != null ? thrown + ": " + cause : thrown.toString();
    return text.strip().replaceAll("\\s*\\R\\s*", " ");
  }
}
