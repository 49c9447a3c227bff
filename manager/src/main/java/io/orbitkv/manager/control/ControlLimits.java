package io.orbitkv.manager.control;

/** The numbers of the control protocol. Both sides check them on what they send and receive. */
final class ControlLimits {
  /** The protocol's version; another one is refused. */
  static final int VERSION = 1;

  /** One message, in bytes. */
  static final int MAX_MESSAGE_BYTES = 16 << 20;

  /** Names in one Locate. */
  static final int MAX_NAMES = 65_536;

  /** Names in one Authorize. */
  static final int MAX_GRANT_NAMES = 16_384;

  /** The provider's opaque bytes in Hello. */
  static final int MAX_PEER_BYTES = 4_096;

  /** The provider's opaque bytes in a grant. */
  static final int MAX_WIRE_FORM_BYTES = 4 << 20;

  /** Any text: names, addresses, endpoints, messages; in characters. */
  static final int MAX_TEXT = 1_024;

  /** Requests on one stream that wait for an answer, and their bytes. */
  static final int MAX_OUTSTANDING = 4_096;

  static final long MAX_OUTSTANDING_BYTES = 64L << 20;

  /** What is queued for a peer that does not read as fast as it is told, bytes. */
  static final int MAX_UNSENT_BYTES = MAX_MESSAGE_BYTES;

  /** A peer that reads nothing for so long is lost, ms. */
  static final long STALL_MILLIS = 5_000;

  /** Streams to one server from one remote address; all of loopback counts as one, below. */
  static final int MAX_STREAMS_PER_ADDRESS = 16;

  static final int MAX_STREAMS_OF_LOOPBACK = 256;

  /** Streams to one server. */
  static final int MAX_STREAMS = 1_024;

  /** A connection without a stream is closed after that, ms. */
  static final long IDLE_CONNECTION_MILLIS = 10_000;

  /** From the opening of a stream to the end of Hello, ms. */
  static final long HELLO_MILLIS = 5_000;

  private ControlLimits() {}
}
