package io.orbitkv.adapter;

import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.ring.RingMemory;
import io.orbitkv.adapter.ring.RingProducer;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.Epoch;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.ReentrantLock;

/** The requests of one session, as they go into the ring. Thread-safe; never waits. */
final class RequestRing {
  private final RingMemory memory;
  private final RingProducer requests;
  private final ReentrantLock lock = new ReentrantLock();
  private int waiting;
  private boolean closed;

  RequestRing(RingMemory memory, Epoch epoch) {
    this.memory = memory;
    this.requests = new RingProducer(memory.segment(), RingLayout.REQUESTS, epoch);
  }

  /** Puts a command in and wakes the Manager if it sleeps; false if there is no room. */
  boolean offer(RingCall call, Opcode opcode, long scalar0, long scalar1, byte[] descriptor) {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("this client is closed; connect again");
      }
      boolean offered =
          requests.offer(opcode, call.id(), scalar0, scalar1, MemorySegment.ofArray(descriptor));
      if (offered) {
        // Before anything that can fail: from here on nobody can say that it was not submitted.
        call.wasSubmitted();
      }
      if (offered && requests.consumerSleeps()) {
        memory.requests().signal();
      }
      return offered;
    } finally {
      lock.unlock();
    }
  }

  /** From now on the Manager tells when it takes commands out; to be ended once. */
  void beginWaiting() {
    lock.lock();
    try {
      waiting++;
      if (!closed) {
        requests.waitsForRoom(true);
      }
    } finally {
      lock.unlock();
    }
  }

  /** One less waits for room. */
  void endWaiting() {
    lock.lock();
    try {
      waiting--;
      if (waiting == 0 && !closed) {
        requests.waitsForRoom(false);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether such a command had room, or none ever will have. */
  boolean hasRoom(long bytes) {
    lock.lock();
    try {
      return closed || requests.hasRoom(bytes);
    } finally {
      lock.unlock();
    }
  }

  /** Nothing touches the memory any more. */
  void close() {
    lock.lock();
    try {
      closed = true;
    } finally {
      lock.unlock();
    }
  }
}
