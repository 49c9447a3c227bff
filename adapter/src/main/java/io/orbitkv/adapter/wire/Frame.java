package io.orbitkv.adapter.wire;

import io.orbitkv.ffm.Fd;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A frame that arrived whole. Whoever received it owns the descriptors.
 *
 * @param header as it was sent; magic and length were checked, the rest was not
 * @param body its own copy
 * @param descriptors as many as the header says
 */
public record Frame(FrameHeader header, MemorySegment body, List<Fd> descriptors) {
  /** Whether it is of that kind. */
  public boolean is(FrameKind kind) {
    return header.kind() == kind.wire();
  }

  /** Closes the descriptors that are still open. */
  public void discard() {
    close(descriptors);
  }

  static void close(List<Fd> descriptors) {
    for (Fd descriptor : descriptors) {
      if (descriptor.isOpen()) {
        descriptor.close();
      }
    }
  }
}
