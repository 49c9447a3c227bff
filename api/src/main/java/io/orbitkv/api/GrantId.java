package io.orbitkv.api;

/**
 * The name of one grant: the owner's permission for one peer to read named allocations. It ends
 * when its token is retired (completed, revoked or expired) <em>and</em> its source hold is
 * drained.
 *
 * @param id chosen by the owning Manager
 * @param generation from one counter of the owning Manager that only rises, so that a message about
 *     an old grant can not touch a newer one
 * @param epoch the owner's transport epoch
 */
public record GrantId(long id, long generation, Epoch epoch) implements ReceiptSubject {
  @Override
  public Side side() {
    return Side.SOURCE;
  }
}
