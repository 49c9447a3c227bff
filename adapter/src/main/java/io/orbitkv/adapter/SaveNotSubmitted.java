package io.orbitkv.adapter;

import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;

/**
 * A publish of which it is proven that its command never got into the ring: the Manager has not
 * seen it and never will, so its ranges may be written again at once. Nothing else throws this; a
 * publish that may have been seen ends through its {@link Publication}.
 */
public final class SaveNotSubmitted extends TransportException {
  private static final long serialVersionUID = 1L;

  SaveNotSubmitted(FaultCode code, String message) {
    super(code, message);
  }

  SaveNotSubmitted(TransportException cause) {
    super(cause.code(), String.valueOf(cause.getMessage()), cause);
  }

  /** Always {@link Evidence#NEVER_SUBMITTED}. */
  public Evidence evidence() {
    return Evidence.NEVER_SUBMITTED;
  }
}
