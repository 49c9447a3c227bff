package io.orbitkv.api;

/** What a drain receipt can be about: one ticket's destination, or one grant's source. */
public sealed interface ReceiptSubject permits TicketId, GrantId {
  /** The half of the transfer that this subject's memory is. */
  Side side();
}
