package io.orbitkv.manager.restore;

import io.orbitkv.api.Evidence;
import java.util.Set;

/**
 * What the sessions of a grant have said so far.
 *
 * @param claimed how many have claimed it
 * @param whole how many have ended with every byte in place
 * @param failed how many have ended otherwise
 * @param lost how many have exited while they copied
 * @param evidence what ended the holds of those that have ended
 */
public record ClaimsSeen(int claimed, int whole, int failed, int lost, Set<Evidence> evidence) {
  /** Copies the set. */
  public ClaimsSeen {
    evidence = Set.copyOf(evidence);
  }

  /** How many sessions said that they have ended. */
  public int redeemed() {
    return whole + failed;
  }
}
