package io.orbitkv.manager.restore;

/** The rules of claim and revocation. A world without one must be found to be wrong. */
enum ClaimRule {
  TAGGED_WORDS("each word is tagged with the generation; another generation reads as NONE"),
  CLAIMED_ONCE("a record is claimed at most once per session"),
  SECOND_READ("after ACTIVE the engine reads the Manager's word again, copies only if GRANTED"),
  FAILED_ON_BACK_OFF("an engine that does not copy writes FAILED"),
  LAST_PART_FIRST("DRAINED only after the last part ended, PART_DRAINED before"),
  WINS_ONLY_OVER_ENDED("revocation wins only over NONE, DRAINED, FAILED"),
  ENGINE_FENCE("a native engine fences between ACTIVE and its second read"),
  MANAGER_FENCE("the Manager fences between REVOKED and its read"),
  MEMBARRIER("no fence in the client: membarrier between REVOKED and the Manager's read"),
  MEMBARRIER_ON_DRAINED("weakly ordered: membarrier before DRAINED or FAILED is trusted"),
  MEMBARRIER_BEFORE_GRANT("weakly ordered: membarrier between the filling and GRANTED"),
  DEVICE_QUARANTINE("exit while ACTIVE proves nothing about device copies: quarantine");

  final String text;

  ClaimRule(String text) {
    this.text = text;
  }
}
