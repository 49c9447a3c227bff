package io.orbitkv.manager.restore;

/**
 * Where the Manager stands with one record.
 *
 * <pre>
 * EMPTY -&gt; FILLED -&gt; GRANTING -&gt; SCANNING &lt;-&gt; PROVING
 *                                |    ^   \-----------&gt; RELEASED -&gt; EMPTY
 *                                v    |    \----------&gt; QUARANTINED
 *          REVOKING -&gt; REVOKED -&gt; FENCED
 * </pre>
 */
public enum RecordPhase {
  /** It names no plan. */
  EMPTY,
  /** The source is filled; a step issues membarrier, for clients whose loads may be early. */
  FILLED,
  /** A step writes GRANTED. */
  GRANTING,
  /** Each step reads the word of one session that has not ended. */
  SCANNING,
  /** A step issues membarrier, and then trusts the ends that the scan has seen. */
  PROVING,
  /** A step writes REVOKED. */
  REVOKING,
  /** A step fences. */
  REVOKED,
  /** A step issues membarrier, for clients that do not fence. */
  FENCED,
  /** Every session has ended: the source may be released, and then a step writes REAPED. */
  RELEASED,
  /** A process exited while a device may have been copying: held until the Manager exits. */
  QUARANTINED
}
