package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Shutdown;
import io.orbitkv.ffm.TcpStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says to an owner, by a connection of its own, the words that can not be said by the one that they
 * are about: it is closed. It tries again until the owner has taken them or is another incarnation,
 * and once more when the peer is closed; what it can not deliver then the owner keeps in
 * quarantine. Thread-safe.
 */
final class WordCarrier {
  private static final Logger log = LoggerFactory.getLogger(WordCarrier.class);
  private static final long FIRST_RETRY_NANOS = 250_000_000;

  /** Often, because blocks stay pinned until the word has come. */
  private static final long LAST_RETRY_NANOS = 2_000_000_000;

  /** More are not remembered. */
  private static final int LIMIT = 65_536;

  private final Engine engine;
  private final TcpPeer peer;

  /** The rest is guarded by this. */
  private final Set<Word> owed = new LinkedHashSet<>();

  private boolean running;
  private boolean last;
  private long retryNanos = FIRST_RETRY_NANOS;

  WordCarrier(Engine engine, TcpPeer peer) {
    this.engine = engine;
    this.peer = peer;
  }

  /** Takes words on connections that are closed here. */
  synchronized void owe(List<Word> words) {
    int dropped = 0;
    for (Word word : words) {
      if (owed.size() < LIMIT) {
        owed.add(word);
      } else if (!owed.contains(word)) {
        dropped++;
      }
    }
    if (dropped > 0) {
      log.warn(
          "orbitte-tcp forgets {} words to {}, beyond {}: what it sent of those replies stays pinned"
              + " there",
          dropped,
          peer,
          LIMIT);
    }
    start();
  }

  /** The peer is closed: one more try, if there is something left. */
  synchronized void close() {
    last = true;
    start();
  }

  private synchronized void start() {
    if (running || owed.isEmpty()) {
      return;
    }
    try {
      engine.threads().start("words", this::run);
      running = true;
    } catch (RuntimeException | OutOfMemoryError e) {
      // No thread now; the words are kept.
      log.warn("orbitte-tcp has no thread to tell {} its words: {}", peer, e.toString());
      if (!last) {
        engine.after(retryNanos, this::start);
      }
    }
  }

  private void run() {
    while (true) {
      List<Word> words;
      boolean lastTry;
      synchronized (this) {
        if (owed.isEmpty()) {
          running = false;
          return;
        }
        words = List.copyOf(owed);
        lastTry = last;
      }
      String problem = deliver(words);
      synchronized (this) {
        if (problem == null) {
          words.forEach(owed::remove);
          retryNanos = FIRST_RETRY_NANOS;
        } else if (lastTry) {
          log.warn(
              "orbitte-tcp can not tell {} that {} replies were given up, and what it sent of them"
                  + " stays pinned there: {}",
              peer,
              owed.size(),
              problem);
          running = false;
          return;
        } else if (!last) {
          running = false;
          engine.after(retryNanos, this::start);
          retryNanos = Math.min(2 * retryNanos, LAST_RETRY_NANOS);
          return;
        }
      }
    }
  }

  /** Null if the owner has taken them all, or is no more; else why not. */
  private @Nullable String deliver(List<Word> words) {
    try (TcpStream stream =
            TcpStream.connect(
                peer.address(),
                null,
                Engine.CONNECT_MILLIS,
                options ->
                    options
                        .sendTimeoutMillis(Engine.CONNECT_MILLIS)
                        .receiveTimeoutMillis(Engine.CONNECT_MILLIS));
        Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(LaneWords.MOST * Wire.WORD_BYTES, Long.BYTES);
      var _ =
          Preface.exchange(stream, buffer, Wire.FEATURE_ONLY_WORDS, engine.epoch(), peer.epoch());
      for (int i = 0; i < words.size(); i += LaneWords.MOST) {
        int count = Math.min(LaneWords.MOST, words.size() - i);
        for (int j = 0; j < count; j++) {
          ReadFrame.writeWord(buffer, (long) j * Wire.WORD_BYTES, words.get(i + j));
        }
        stream.sendFully(buffer, 0, (long) count * Wire.WORD_BYTES);
      }
      stream.shutdown(Shutdown.WRITE);
      // The owner closes when it has taken what came before the end of the stream.
      return stream.receive(buffer, 0, 1, true) == 0 ? null : "the owner refuses them";
    } catch (ProtocolException e) {
      return e.code() == FaultCode.STALE_EPOCH ? null : e.line();
    } catch (NativeException e) {
      return String.valueOf(e.getMessage());
    } catch (RuntimeException | OutOfMemoryError e) {
      // Whatever it is, the words are not said, and this thread has to say so.
      return e.toString();
    }
  }
}
