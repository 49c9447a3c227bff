package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;

/**
 * The owner refuses one READ; the connection goes on. Without a stack trace: refusals are cheap.
 */
final class ReadRefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final FaultCode code;

  ReadRefusedException(FaultCode code) {
    super(code.name(), null, false, false);
    this.code = code;
  }

  FaultCode code() {
    return code;
  }
}
