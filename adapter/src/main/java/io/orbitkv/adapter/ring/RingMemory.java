package io.orbitkv.adapter.ring;

import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.EventFd;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Protection;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One side's hold on the memory and the two events of one session's rings. Owns its mapping and its
 * descriptors. Any thread may signal; {@link #close()} is the owner's, after its last use.
 */
public final class RingMemory implements AutoCloseable {
  private final Mapping mapping;
  private final EventFd requests;
  private final EventFd answers;

  private RingMemory(Mapping mapping, EventFd requests, EventFd answers) {
    this.mapping = mapping;
    this.requests = requests;
    this.answers = answers;
  }

  /** What the Manager passes to the engine; the caller closes the memfd once that is done. */
  public record Made(RingMemory memory, Fd memfd) {
    /** In the order of WELCOME. */
    public List<Fd> descriptors() {
      return List.of(memfd, memory.requests.fd(), memory.answers.fd());
    }
  }

  /**
   * Makes a new one, sealed so that its size never changes.
   *
   * @throws NativeException if memory or descriptors are short; nothing is left open then
   */
  public static Made create(Epoch epoch, long session) {
    List<AutoCloseable> made = new ArrayList<>();
    boolean done = false;
    try {
      Fd memfd = Memfd.create("orbitkv-ring", RingLayout.BYTES);
      made.add(memfd);
      Memfd.addSeals(memfd, Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW | Memfd.F_SEAL_SEAL);
      Mapping mapping = Mapping.map(memfd, 0, RingLayout.BYTES, Protection.READ_WRITE, false);
      made.add(mapping);
      EventFd requests = EventFd.create();
      made.add(requests);
      EventFd answers = EventFd.create();
      made.add(answers);
      new Cursor("ring", mapping.segment())
          .putU32(RingLayout.MAGIC)
          .putU32(RingLayout.VERSION)
          .putEpoch(epoch)
          .putU64(session);
      done = true;
      return new Made(new RingMemory(mapping, requests, answers), memfd);
    } finally {
      if (!done) {
        closeAll(made);
      }
    }
  }

  /**
   * Maps one that came with WELCOME; it stays out of children made by fork.
   *
   * @param descriptors memfd, event of the requests, event of the answers; they stay the caller's
   * @param version of its layout, as WELCOME says
   * @param bytes its length, as WELCOME says
   * @throws TransportException UNSUPPORTED for another layout, CORRUPT if the memfd does not keep
   *     it
   */
  public static RingMemory attach(List<Fd> descriptors, long version, long bytes) {
    if (version != RingLayout.VERSION || bytes != RingLayout.BYTES) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "ring of layout version "
              + version
              + " and "
              + bytes
              + " bytes, this client knows version "
              + RingLayout.VERSION
              + " of "
              + RingLayout.BYTES
              + "; use the same release of OrbitKV on both sides");
    }
    Fd memfd = descriptors.get(0);
    if ((Memfd.seals(memfd) & Memfd.F_SEAL_SHRINK) == 0 || Memfd.size(memfd) < bytes) {
      throw new TransportException(
          FaultCode.CORRUPT, "ring of WELCOME is short or not sealed against shrinking");
    }
    List<AutoCloseable> made = new ArrayList<>();
    boolean done = false;
    try {
      Mapping mapping = Mapping.map(memfd, 0, bytes, Protection.READ_WRITE, false);
      made.add(mapping);
      mapping.dontFork();
      Fd requests = descriptors.get(1).duplicate();
      made.add(requests);
      Fd answers = descriptors.get(2).duplicate();
      made.add(answers);
      RingMemory memory = new RingMemory(mapping, EventFd.adopt(requests), EventFd.adopt(answers));
      done = true;
      return memory;
    } finally {
      if (!done) {
        closeAll(made);
      }
    }
  }

  /** The memory, readable and writable by both sides. */
  public MemorySegment segment() {
    return mapping.segment();
  }

  /** Wakes the Manager: there is a request, or room for an answer. */
  public EventFd requests() {
    return requests;
  }

  /** Wakes the engine: there is an answer, or room for a request. */
  public EventFd answers() {
    return answers;
  }

  /** Unmaps and closes. No other thread may be using it. */
  @Override
  public void close() {
    closeAll(List.of(mapping, requests, answers));
  }

  private static void closeAll(List<? extends AutoCloseable> all) {
    RuntimeException failed = null;
    for (AutoCloseable one : all) {
      try {
        one.close();
      } catch (RuntimeException e) {
        failed = e;
      } catch (Exception e) {
        failed = new IllegalStateException("closing a ring: " + e, e);
      }
    }
    if (failed != null) {
      throw failed;
    }
  }
}
