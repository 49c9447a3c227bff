package io.orbitkv.provider.tcp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The owner and the network of the destination's half: replies in the order of the READs. */
final class ExploredWire {
  /**
   * A part of a reply that arrives at once.
   *
   * @param header payload bytes that it announces, if it is the first of its reply; else 0
   */
  record Chunk(int ticket, long requestId, long header) {}

  private static final MemorySegment BUFFER = Arena.global().allocate(Wire.REPLY_HEADER_BYTES);

  private final Deque<Chunk> unsent = new ArrayDeque<>();
  private final Deque<Chunk> arrived = new ArrayDeque<>();
  private boolean alive = true;
  private boolean open = true;

  boolean alive() {
    return alive;
  }

  boolean open() {
    return open;
  }

  /** The owner dies or freezes: nothing arrives any more. */
  void die() {
    alive = false;
  }

  /** The owner ends the connection: what has arrived can still be received. */
  void close() {
    alive = false;
    shutdown();
  }

  /** The requester shuts the connection down: what has arrived can still be received. */
  void shutdown() {
    open = false;
    unsent.clear();
  }

  void request(int ticket, long requestId, long bytes) {
    for (long at = 0; at < bytes; at += ExploredRequester.CHUNK) {
      unsent.add(new Chunk(ticket, requestId, at == 0 ? bytes : 0));
    }
  }

  boolean canSend() {
    return alive && open && !unsent.isEmpty();
  }

  int sends() {
    return unsent.element().ticket();
  }

  void send() {
    arrived.add(unsent.remove());
  }

  boolean readable() {
    return !arrived.isEmpty();
  }

  Chunk receive() {
    return arrived.remove();
  }

  /** Decodes what an idle thread would take for a header: the real one, or payload. */
  void decodeInto(ReplyHeader header) throws ProtocolException {
    Chunk chunk = arrived.element();
    BUFFER.fill((byte) 0x55);
    if (chunk.header() > 0) {
      ReplyHeader.writeData(
          BUFFER, chunk.requestId(), ExploredRequester.OWNER, chunk.header(), false);
    }
    header.decode(BUFFER, ExploredRequester.OWNER);
  }

  List<Object> fingerprint() {
    return List.of(new ArrayList<>(unsent), new ArrayList<>(arrived), alive, open);
  }
}
