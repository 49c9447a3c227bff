package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.Errno;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.TcpStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says to an owner, by a connection of its own, the words that can not be said by the one that they
 * are about: it is closed. It tries again, also when its peer was closed, until
 *
 * <ul>
 *   <li>the owner has taken them;
 *   <li>the owner's incarnation has ended: it says so, another one answers at its endpoint, or
 *       nobody has listened there for a minute, where an owner listens to its end;
 *   <li>the transport closes: once more then, and what can not be delivered the owner keeps in
 *       quarantine.
 * </ul>
 *
 * Thread-safe.
 */
final class WordCarrier {
  private static final Logger log = LoggerFactory.getLogger(WordCarrier.class);
  private static final long FIRST_RETRY_NANOS = 250_000_000;

  /** Often, because blocks stay pinned until the word has come. */
  private static final long LAST_RETRY_NANOS = 2_000_000_000;

  /** More are not remembered. */
  private static final int LIMIT = 65_536;

  /** Tries in a row that nobody listens to, until the owner is taken for gone: a minute. */
  static final int MOST_REFUSALS = 32;

  /** Of one try: a connection and its preface, and room for the words. */
  private static final long TRY_NANOS = 3 * Engine.CONNECT_NANOS;

  private enum Result {
    TAKEN,
    OWNER_ENDED,
    NOBODY_LISTENS,
    FAILED
  }

  private final Engine engine;
  private final WordCarriers carriers;
  private final InetSocketAddress address;
  private final Epoch owner;

  /** What it tries by now. */
  private volatile @Nullable LaneConnection connection;

  private volatile boolean cut;

  /** The rest is guarded by this. */
  private final Set<Word> owed = new LinkedHashSet<>();

  private boolean ownerEnded;
  private boolean running;
  private long retryNanos = FIRST_RETRY_NANOS;
  private int refusals;
  private String problem = "";

  WordCarrier(Engine engine, WordCarriers carriers, InetSocketAddress address, Epoch owner) {
    this.engine = engine;
    this.carriers = carriers;
    this.address = address;
    this.owner = owner;
  }

  /** Takes words on connections that are closed here. */
  synchronized void owe(List<Word> words) {
    if (ownerEnded || words.isEmpty()) {
      return;
    }
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
          this,
          LIMIT);
    }
    carriers.owes(this);
    start();
  }

  /** The owner has said that its incarnation has ended, so that it waits for no word any more. */
  synchronized void ownerEnded() {
    ownerEnded = true;
    owed.clear();
    carriers.owesNoMore(this);
  }

  /** Ends the try that runs, and lets no other begin. */
  void cut() {
    cut = true;
    LaneConnection current = connection;
    if (current != null) {
      current.shutdown("the transport closes");
    }
  }

  /** Tries now, if there is something to be said and no try runs. */
  synchronized void start() {
    if (running || owed.isEmpty()) {
      return;
    }
    try {
      engine.threads().start("words", this::run);
      running = true;
    } catch (RuntimeException | OutOfMemoryError e) {
      // No thread now; the words are kept.
      log.warn("orbitte-tcp has no thread to tell {} its words: {}", this, e.toString());
      engine.after(retryNanos, this::start);
    }
  }

  private void run() {
    while (true) {
      List<Word> words;
      boolean last;
      synchronized (this) {
        if (owed.isEmpty()) {
          running = false;
          carriers.owesNoMore(this);
          return;
        }
        words = List.copyOf(owed);
        last = carriers.closing();
      }
      if (!goesOn(words, deliver(words), last)) {
        return;
      }
    }
  }

  private synchronized boolean goesOn(List<Word> words, Result result, boolean last) {
    refusals = result == Result.NOBODY_LISTENS ? refusals + 1 : 0;
    if (result == Result.OWNER_ENDED || refusals == MOST_REFUSALS) {
      log.info("orbitte-tcp owes {} nothing any more: the owner has ended", this);
      ownerEnded();
      return true;
    }
    if (result == Result.TAKEN) {
      words.forEach(owed::remove);
      retryNanos = FIRST_RETRY_NANOS;
      return true;
    }
    if (!last && carriers.closing()) {
      // The last try is still to be made.
      return true;
    }
    running = false;
    if (last) {
      log.warn(
          "orbitte-tcp can not tell {} that {} replies were given up, and what it sent of them stays"
              + " pinned there: {}",
          this,
          owed.size(),
          problem);
    } else {
      engine.after(retryNanos, this::start);
      retryNanos = Math.min(2 * retryNanos, LAST_RETRY_NANOS);
    }
    return false;
  }

  private Result deliver(List<Word> words) {
    int patience = carriers.patienceMillis();
    if (cut) {
      return failed("the transport closes");
    }
    LaneConnection current = null;
    try {
      current =
          new LaneConnection(
              TcpStream.connect(
                  address,
                  null,
                  patience,
                  options -> options.sendTimeoutMillis(patience).receiveTimeoutMillis(patience)));
      connection = current;
      LaneConnection watched = current;
      // Each call has its timeout; an owner that trickles would have a new one for each byte.
      engine.after(TRY_NANOS, () -> watched.shutdown("the owner does not come to an end"));
      return cut ? failed("the transport closes") : deliver(words, current.stream());
    } catch (ProtocolException e) {
      boolean ended = e.code() == FaultCode.STALE_EPOCH || e.code() == FaultCode.CLOSING;
      return ended ? Result.OWNER_ENDED : failed(e.line());
    } catch (NativeException e) {
      boolean refused = current == null && e.errno() == Errno.ECONNREFUSED;
      return refused ? refused(e) : failed(String.valueOf(e.getMessage()));
    } catch (RuntimeException | OutOfMemoryError e) {
      // Whatever it is, the words are not said, and this thread has to say so.
      return failed(e.toString());
    } finally {
      connection = null;
      if (current != null) {
        current.close();
      }
    }
  }

  private Result deliver(List<Word> words, TcpStream stream) throws ProtocolException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(LaneWords.MOST * Wire.WORD_BYTES, Long.BYTES);
      var _ = Preface.exchange(stream, buffer, Wire.FEATURE_ONLY_WORDS, engine.epoch(), owner);
      for (int i = 0; i < words.size(); i += LaneWords.MOST) {
        int count = Math.min(LaneWords.MOST, words.size() - i);
        for (int j = 0; j < count; j++) {
          ReadFrame.writeWord(buffer, (long) j * Wire.WORD_BYTES, words.get(i + j));
        }
        stream.sendFully(buffer, 0, (long) count * Wire.WORD_BYTES);
        Result result = acknowledged(words.subList(i, i + count), stream, buffer);
        if (result != Result.TAKEN) {
          return result;
        }
      }
      return Result.TAKEN;
    }
  }

  private Result acknowledged(List<Word> words, TcpStream stream, MemorySegment buffer)
      throws ProtocolException {
    ReplyHeader reply = new ReplyHeader();
    for (Word word : words) {
      if (stream.receive(buffer, 0, Wire.REPLY_HEADER_BYTES, true) < Wire.REPLY_HEADER_BYTES) {
        return failed("the connection ended before the owner had taken them");
      }
      reply.decode(buffer, owner);
      if (reply.kind() == Wire.KIND_END && reply.fault() == FaultCode.CLOSING) {
        return Result.OWNER_ENDED;
      }
      if (reply.kind() != Wire.KIND_DATA
          || reply.requestId() != word.requestId()
          || reply.payloadBytes() != 0) {
        return failed("the owner refuses them: " + reply.fault());
      }
    }
    return Result.TAKEN;
  }

  private Result refused(NativeException why) {
    var _ = failed(String.valueOf(why.getMessage()));
    return Result.NOBODY_LISTENS;
  }

  private synchronized Result failed(String why) {
    problem = why;
    return Result.FAILED;
  }

  @Override
  public String toString() {
    return TcpEndpoint.uri(address) + " of epoch " + owner;
  }
}
