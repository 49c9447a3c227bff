package io.orbitkv.cli.replay;

import java.util.List;

/**
 * One request of a trace.
 *
 * @param timestampMillis when it arrived, milliseconds after the trace began; not negative
 * @param inputTokens length of its prompt, tokens
 * @param outputTokens length of its answer, tokens
 * @param hashes names of the blocks of its prompt, in order; each covers the whole prompt up to its
 *     own end. A name that came earlier in the same request was left out
 */
public record TraceRequest(
    long timestampMillis, long inputTokens, long outputTokens, List<Long> hashes) {
  /** Copies the list. */
  public TraceRequest {
    hashes = List.copyOf(hashes);
  }
}
