package io.orbitkv.provider.tcp;

import io.orbitkv.api.GrantId;

/**
 * The requester's word that it will read no more of one reply.
 *
 * @param requestId of the READ
 * @param grant of the READ
 * @param token of the grant: who does not have it can not say so
 */
record Word(long requestId, GrantId grant, Token token) {
  static Word on(Part part) {
    ImportedRegion source = part.ticket().source();
    return new Word(part.requestId(), source.grant(), source.token());
  }
}
