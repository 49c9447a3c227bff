package io.orbitkv.manager.restore;

/** The rules of a promise. A world without one must be found to be wrong. */
enum PromiseRule {
  LAST_PROCESS("a promise ends with the last process of the instance, not with its scheduler"),
  NO_EXPIRY("a promise is pinned without expiry"),
  WORD_PER_SESSION("one engine word per session"),
  WAITS_FOR_ALL("release waits for the words of all sessions"),
  LOST_CANCEL_ANSWERED(
      "a cancel that lost to ACTIVE is answered so; pages stay busy until DRAINED"),
  UNMAP_AFTER_LAST_PLAN("the client unmaps the old arenas after its last plan"),
  LOCAL_CANCEL("when the Manager has died, cancel is local");

  final String text;

  PromiseRule(String text) {
    this.text = text;
  }
}
