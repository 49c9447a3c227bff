package io.orbitkv.provider.tcp;

/**
 * One READ of a ticket. It stays known to its lane until its reply has ended, also when its ticket
 * ended before.
 *
 * @param ticket whose bytes
 * @param requestId never used again within the requester's epoch
 * @param start where in the ticket's destination its bytes begin
 * @param bytes its payload
 * @param frameBytes the length of its READ frame
 * @param sentNanos when it was handed to the connection
 */
record Part(
    TcpTicket ticket,
    long requestId,
    PieceCursor start,
    long bytes,
    int frameBytes,
    long sentNanos) {}
