package io.orbitkv.adapter;

import io.orbitkv.api.FaultCode;
import org.jspecify.annotations.Nullable;

/**
 * What became of one published block.
 *
 * @param name its name
 * @param status stored, present or fault
 * @param code why not; null unless {@link Status#FAULT}
 * @param detail the reason as the Manager put it, at most 88 bytes; null unless {@link
 *     Status#FAULT}
 */
public record PublishResult(
    BlockName name, Status status, @Nullable FaultCode code, @Nullable String detail) {
  /** The three ends of a publish. */
  public enum Status {
    /** The Manager copied it and answers for it. */
    STORED,
    /** A block of that name was there already; nothing was copied. */
    PRESENT,
    /** Not stored; the name is as it was before. */
    FAULT
  }
}
