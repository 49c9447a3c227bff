package io.orbitkv.tck;

import io.orbitkv.api.MemoryKind;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.PageSize;
import io.orbitkv.ffm.Protection;
import java.lang.foreign.MemorySegment;

/** Host memory as a Manager has it: a mapped memfd. */
final class HostMemory implements MemoryBacking {
  private final Fd fd;
  private final Mapping mapping;

  HostMemory(long bytes) {
    long rounded = PageSize.roundUp(bytes);
    fd = Memfd.create("orbitkv-tck", rounded);
    mapping = Mapping.map(fd, 0, rounded, Protection.READ_WRITE, true);
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.HOST;
  }

  @Override
  public MemorySegment segment() {
    return mapping.segment();
  }

  @Override
  public int fd() {
    return fd.number();
  }

  @Override
  public void store(long at, MemorySegment from) {
    MemorySegment.copy(from, 0, mapping.segment(), at, from.byteSize());
  }

  @Override
  public void load(long at, MemorySegment to) {
    MemorySegment.copy(mapping.segment(), at, to, 0, to.byteSize());
  }

  @Override
  public void close() {
    mapping.close();
    fd.close();
  }
}
