package io.orbitkv.manager.local;

import io.orbitkv.adapter.wire.Welcome;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.UnixStream;
import java.util.List;

/** Checks the arenas before any of them is shown to an engine. */
final class SharedArenas {
  private SharedArenas() {}

  /** Adds a descriptor of its own and an offer for each; the caller closes what was added. */
  static void prepare(
      List<BlockService.SharedArena> shared,
      List<Fd> descriptors,
      List<Welcome.ArenaOffer> offers) {
    int most = UnixStream.MAX_DESCRIPTORS - Welcome.SESSION_DESCRIPTORS;
    if (shared.size() > most) {
      throw new TransportException(
          FaultCode.INVALID,
          shared.size() + " arenas; a client gets at most " + most + ": use fewer and larger ones");
    }
    for (BlockService.SharedArena arena : shared) {
      Fd borrowed = Fd.adopt(arena.fd());
      try {
        descriptors.add(borrowed.duplicate());
      } finally {
        var _ = borrowed.release();
      }
      check(descriptors.getLast(), arena.bytes(), offers.size());
      offers.add(new Welcome.ArenaOffer(Welcome.READ_ONLY, arena.bytes()));
    }
  }

  private static void check(Fd arena, long bytes, int index) {
    int needed = Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_FUTURE_WRITE;
    int seals = Memfd.seals(arena);
    if ((seals & needed) != needed) {
      throw new TransportException(
          FaultCode.INVALID,
          "arena " + index + " has seals " + seals + "; seal it against shrinking and writing");
    }
    if (bytes < 1 || bytes > Memfd.size(arena)) {
      throw new TransportException(
          FaultCode.INVALID,
          "arena " + index + " of " + bytes + " bytes in a file of " + Memfd.size(arena));
    }
  }
}
