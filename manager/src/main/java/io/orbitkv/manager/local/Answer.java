package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.Text;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * An answer to one command.
 *
 * @param descriptor on the heap, maybe empty
 * @param whenDropped runs if it was never put into the ring, so that the client was never told;
 *     null if nobody cares
 */
record Answer(
    Opcode opcode,
    long requestId,
    long scalar0,
    long scalar1,
    MemorySegment descriptor,
    @Nullable Runnable whenDropped) {
  private static final MemorySegment NONE = MemorySegment.ofArray(new byte[0]);

  /** One without a descriptor. */
  static Answer of(Opcode opcode, long requestId, long scalar0) {
    return new Answer(opcode, requestId, scalar0, 0, NONE, null);
  }

  /** One that refuses the whole command. */
  static Answer refusal(long requestId, TransportException fault) {
    String text = fault.getMessage() == null ? fault.code().toString() : fault.getMessage();
    MemorySegment descriptor = MemorySegment.ofArray(Text.cut(text, Text.REFUSAL_BYTES));
    return new Answer(Opcode.REFUSAL, requestId, fault.code().wire(), 0, descriptor, null);
  }

  /** It never will be put in. */
  void dropped() {
    if (whenDropped != null) {
      whenDropped.run();
    }
  }
}
