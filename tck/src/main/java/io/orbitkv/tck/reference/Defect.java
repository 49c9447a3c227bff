package io.orbitkv.tck.reference;

/**
 * One way in which a transport can be wrong, each seen in the field. A reference provider that is
 * given one breaks that rule and no other; the compatibility kit must notice.
 */
public enum Defect {
  /** An admission gate that opens again when it is closed a second time. */
  QUIESCE_REOPENS,
  /** {@code close} of a transport succeeds although a ticket or a source hold is not drained. */
  CLOSE_CANNOT_FAIL,
  /** {@code close} of a registration succeeds although a ticket is not drained. */
  RELEASE_CANNOT_FAIL,
  /** The source side does not count as a user: memory is deregistered under a running read. */
  DEREGISTERS_UNDER_READ,
  /** A batch that leaves its region is clamped instead of refused. */
  BOUNDS_NOT_CHECKED,
  /** A strided source is read as if it were contiguous. */
  STRIDE_IGNORED,
  /** COMPLETED is told while the last bytes are still on their way. */
  COMPLETION_BEFORE_VISIBILITY,
  /** The first part that ends decides the outcome of the batch. */
  OUTCOME_BEFORE_LAST_PART,
  /** A cancel of work that stands still has no effect. */
  CANCEL_LOST,
  /** The callback runs once more when the ticket is drained. */
  CALLBACK_TWICE,
  /** {@code drain} returns the same receipt again. */
  RECEIPT_TWICE,
  /** A cancel is taken for the end: the receipt comes while the thread is inside the memory. */
  RECEIPT_BEFORE_THREAD_LEFT,
  /** The end of a progress timeout is taken for evidence. */
  RECEIPT_ON_TIMEOUT,
  /** The owner's receipt needs only the retirement, not the handler's leaving. */
  SOURCE_RECEIPT_WHILE_INSIDE,
  /** Neither import nor read compares the owner's epoch with the one that was asked for. */
  EPOCH_IGNORED,
  /** A grant can be used by a requester that it was not given to. */
  GRANT_OF_ANY_REQUESTER,
  /** A retired grant still lets new reads in. */
  REVOKE_STILL_ADMITS,
  /** Bytes land in the destination after FAILED or CANCELLED, and after the receipt. */
  LATE_WRITE_AFTER_FAILED,
  /** A link that breaks in the middle is reported as success. */
  CUT_IS_COMPLETED,
  /** A submission that loses against {@code quiesce} throws, and runs all the same. */
  THROWS_AND_RUNS,
  /** A ticket's place in the admission budget is not given back. */
  BUDGET_NOT_GIVEN_BACK,
  /** The admission budget is asked when bytes have moved already. */
  BUDGET_AFTER_SIDE_EFFECTS,
  /** The declared limits of a batch are not held to. */
  LIMITS_NOT_CHECKED
}
