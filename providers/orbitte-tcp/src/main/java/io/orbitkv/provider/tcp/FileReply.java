package io.orbitkv.provider.tcp;

import io.orbitkv.ffm.TcpStream;
import java.lang.foreign.MemorySegment;

/**
 * The pieces of one reply as ranges of files, to be sent by reference. Adjacent ones are joined.
 * Used again for the next reply; one thread.
 */
final class FileReply {
  private final int[] file = new int[Wire.MAX_PIECES];
  private final long[] position = new long[Wire.MAX_PIECES];
  private final long[] length = new long[Wire.MAX_PIECES];
  private int size;

  void clear() {
    size = 0;
  }

  /** Appends a piece of a range, whose bounds were checked. */
  void add(SourceRange range, long offset, long bytes) {
    long from = range.position() + offset;
    int last = size - 1;
    if (last >= 0 && file[last] == range.file() && position[last] + length[last] == from) {
      length[last] += bytes;
      return;
    }
    file[size] = range.file();
    position[size] = from;
    length[size] = bytes;
    size++;
  }

  /** Whether every range of files that it consists of exists, and is long enough on average. */
  boolean worthwhile(long bytes, long leastBytes) {
    for (int i = 0; i < size; i++) {
      if (file[i] < 0) {
        return false;
      }
    }
    return bytes / size >= leastBytes;
  }

  /** Sends a header, and all of it. */
  void send(TcpStream stream, MemorySegment header) {
    stream.sendFullyBeforeMore(header, 0, Wire.REPLY_HEADER_BYTES);
    for (int i = 0; i < size; i++) {
      stream.sendFileFully(file[i], position[i], length[i]);
    }
  }
}
