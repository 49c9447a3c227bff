package io.orbitkv.manager.control;

import io.orbitkv.api.Evidence;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;

/**
 * The requester's word that it is done with a grant: it retires the token, and frees nothing. A
 * repeated one, or one for a grant that has ended, changes nothing.
 *
 * @param grant the grant, with its generation
 * @param ticket the ticket under which it was asked for
 * @param outcome how it ended: the simple name of the {@link io.orbitkv.api.Outcome}, for the
 *     owner's counters
 * @param evidence of the requester's own receipt; {@code NEVER_SUBMITTED} for a grant not used
 */
public record Completion(GrantId grant, TicketId ticket, String outcome, Evidence evidence) {}
