package io.orbitkv.manager.control;

/** The numbers of the control protocol. Both sides check them on what they send and receive. */
final class ControlLimits {
  /** The protocol's version; another one is refused. */
  static final int VERSION = 1;

  /** One message, in bytes. */
  static final int MAX_MESSAGE_BYTES = 16 << 20;

  /** Names in one Locate or Authorize. */
  static final int MAX_NAMES = 65_536;

  /** The provider's opaque bytes in Hello. */
  static final int MAX_PEER_BYTES = 4_096;

  /** The provider's opaque bytes in a grant. */
  static final int MAX_WIRE_FORM_BYTES = 4 << 20;

  /** Any text: names, addresses, endpoints, messages; in characters. */
  static final int MAX_TEXT = 1_024;

  /** Requests on one stream that wait for an answer, and their bytes. */
  static final int MAX_OUTSTANDING = 4_096;

  static final long MAX_OUTSTANDING_BYTES = 64L << 20;

  /** From the opening of a stream to the end of Hello, ms. */
  static final long HELLO_MILLIS = 5_000;

  private ControlLimits() {}
}
