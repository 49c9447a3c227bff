package io.orbitkv.systemtests.simulation;

/** One rule broken on purpose, in test code around the real classes. */
enum Mutant {
  /** Nothing is broken. */
  NONE,
  /** A cancelled ticket gives its receipt while its bytes still come. */
  RECEIPT_ON_CANCEL,
  /** A ticket gives its receipt while the reading thread is in the destination. */
  RECEIPT_WHILE_READING_THREAD_INSIDE,
  /** A ticket is a success when its first entry is in place. */
  SUCCESS_BEFORE_LAST_PART,
  /** A request id is used again as soon as nobody waits for it. */
  REQUEST_ID_USED_AGAIN,
  /** The source's receipt is given while a handler reads it. */
  SOURCE_RECEIPT_WHILE_HANDLER_INSIDE,
  /** A retired token still opens its ranges. */
  REVOKED_TOKEN_STILL_ENTERS,
  /** A READ is served from what is granted now, whatever epoch, generation and token it names. */
  OWNER_IGNORES_EPOCHS,
  /** The requester's word unpins the source. */
  COMPLETE_FREES_SOURCE,
  /** The end of a grant's time unpins the source. */
  EXPIRY_FREES_SOURCE,
  /** The loss of the peer unpins the source. */
  PEER_LOST_FREES_SOURCE,
  /** A repeated request whose grant has ended gets a second one. */
  REPEATED_REQUEST_GETS_SECOND_GRANT,
  /** A completion retires whatever grant its sender has, of any generation. */
  COMPLETION_OF_ANY_GENERATION,
  /** The outcome of a ticket gives its destination back. */
  OUTCOME_FREES_DESTINATION,
  /** The deadline of a read gives its destinations back. */
  DEADLINE_FREES_DESTINATION,
  /** An answer is taken by its number, whatever stream it came from. */
  REPLY_OF_ANY_STREAM,
  /** The end of a lease's time unpins its blocks. */
  LEASE_EXPIRY_FREES,
  /** A session's end unpins what its living process reads. */
  SESSION_END_FREES_LEASES,
  /** The revocation of a plan unpins its source, whoever copies. */
  REVOCATION_FREES,
  /** An engine does not fence between ACTIVE and its second look. */
  ENGINE_DOES_NOT_FENCE,
  /** A read that was answered is answered again when its last part ends. */
  LATE_PART_ANSWERS_AGAIN
}
