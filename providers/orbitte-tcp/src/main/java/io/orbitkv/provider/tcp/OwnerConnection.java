package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.IoVector;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Shutdown;
import io.orbitkv.ffm.TcpStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of a requester at the owner: a thread that answers READs in the order in which
 * they came. It is the only reader and writer of its stream; other threads only shut it down.
 */
final class OwnerConnection implements Runnable, ReplyConnection {
  private static final Logger log = LoggerFactory.getLogger(OwnerConnection.class);
  private static final long LINGER_NANOS = 1_000_000_000;
  private static final int LINGER_BYTES = 1 << 20;

  /**
   * Bytes that lie unsent in the send buffer at most, where packets pass more than one queue. The
   * kernel sends such bytes when an acknowledgement comes, on the CPU that it comes on, while this
   * thread's calls send on another: a virtual link with a queue for each CPU lets the one overtake
   * the other, and TCP takes that for loss.
   */
  private static final int UNSENT_BYTES = 128 << 10;

  private final Engine engine;
  private final OwnerService service;
  private final TcpStream stream;
  private final String remote;
  private final ReadFrame frame = new ReadFrame();
  private final IoVector reply = new IoVector(IoVector.MAX_RANGES);
  private final FileReply byReference = new FileReply();
  private final Checksum checksum = new Checksum();
  private Epoch requester = Epoch.NONE;
  private boolean saysWords;
  private boolean onlyWords;
  private boolean referred;
  private boolean checksummed;
  private @Nullable Congestion congestion;

  /** Its stream until its preface has come, then null. */
  private final AtomicReference<@Nullable TcpStream> ungreeted;

  private volatile @Nullable TcpSourceHold serving;

  OwnerConnection(Engine engine, OwnerService service, TcpStream stream) {
    this.engine = engine;
    this.service = service;
    this.stream = stream;
    this.ungreeted = new AtomicReference<>(stream);
    this.remote = TcpEndpoint.text(stream.remoteAddress());
  }

  /** Whether a reply under this hold is being sent, or is about to. */
  boolean serves(TcpSourceHold hold) {
    return serving == hold;
  }

  /** Ends what its thread does, from any thread. */
  @Override
  public void shutdown() {
    shutdown(stream);
  }

  /** Takes no more, tells the requester that this owner has ended, and ends; from any thread. */
  void leave() {
    try {
      stream.shutdown(Shutdown.READ);
    } catch (IllegalStateException e) {
      // Its thread has closed it.
    }
  }

  /** Static, since the timer keeps what it is given: a flood of connections would fill the heap. */
  private static void endLater(Engine engine, long nanos, AtomicReference<@Nullable TcpStream> of) {
    engine.after(
        nanos,
        () -> {
          TcpStream open = of.get();
          if (open != null) {
            shutdown(open);
          }
        });
  }

  private static void shutdown(TcpStream stream) {
    try {
      stream.shutdown(Shutdown.BOTH);
    } catch (IllegalStateException e) {
      // Its thread has closed it.
    }
  }

  @Override
  public void run() {
    String reason = "closed by the peer";
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment header = arena.allocate(Wire.PREFACE_BYTES);
      FrameBuffer input = new FrameBuffer(stream, arena);
      try {
        if (greet(header)) {
          serve(input, header);
          if (service.closed()) {
            reason = "this owner has ended";
            end(input, header, FaultCode.CLOSING);
          }
        } else {
          reason = "no preface came within " + Engine.CONNECT_MILLIS + " ms";
        }
      } catch (ProtocolException e) {
        reason = e.line();
        end(input, header, service.closed() ? FaultCode.CLOSING : e.code());
      }
    } catch (NativeException e) {
      reason = String.valueOf(e.getMessage());
    } catch (RuntimeException e) {
      reason = "defect: " + e;
      log.error("orbitte-tcp {} fails to serve {}", service.endpoint(), remote, e);
    } finally {
      if (congestion != null) {
        congestion.uncount();
      }
      try {
        dropReferences();
      } finally {
        stream.close();
        ungreeted.set(null);
        service.ended(this);
      }
      log.info("orbitte-tcp {} connection of {} down: {}", service.endpoint(), remote, reason);
    }
  }

  /**
   * Behind the last send: this end's kernel lets go of what it still refers to. By a reset and not
   * by the close, which is put off while another thread is inside a call.
   */
  private void dropReferences() {
    if (!referred || !service.refersTo(this)) {
      return;
    }
    try {
      stream.reset();
    } catch (NativeException e) {
      log.warn(
          "orbitte-tcp {} connection of {} can not be reset, and what it sent stays pinned: {}",
          service.endpoint(),
          remote,
          e.getMessage());
      return;
    }
    service.reset(this);
  }

  /** Exchanges prefaces; false if the peer left before its own was complete. */
  private boolean greet(MemorySegment buffer) throws ProtocolException {
    Congestion chosen = engine.configure(stream);
    congestion = chosen;
    if (!chosen.staysInHost()) {
      boundUnsent();
    }
    endLater(engine, Engine.CONNECT_NANOS, ungreeted);
    if (stream.receive(buffer, 0, Wire.PREFACE_BYTES, true) < Wire.PREFACE_BYTES) {
      return false;
    }
    ungreeted.set(null);
    Preface theirs = Preface.read(buffer);
    try {
      accept(theirs);
    } catch (ProtocolException e) {
      engine.meters().refusals().add(1);
      Preface.refusal(e.code(), engine.epoch(), theirs.sender()).write(buffer);
      stream.sendFully(buffer, 0, Wire.PREFACE_BYTES);
      throw e;
    }
    requester = theirs.sender();
    chosen.count(engine.meters()::incomingCongestion);
    saysWords = theirs.has(Wire.FEATURE_WORDS);
    int offered =
        engine.settings().sendfile() ? Wire.FEATURES : Wire.FEATURES & ~Wire.FEATURE_WORDS;
    Preface.hello(0, offered, engine.epoch(), requester).write(buffer);
    stream.sendFully(buffer, 0, Wire.PREFACE_BYTES);
    log.info(
        "orbitte-tcp {} connection of {} up, congestion control {}",
        service.endpoint(),
        remote,
        chosen.inForce());
    return true;
  }

  private void boundUnsent() {
    try {
      stream.options().unsentBytes(UNSENT_BYTES);
    } catch (NativeException e) {
      // Only slower.
      log.debug("orbitte-tcp {} connection of {}: {}", service.endpoint(), remote, e.getMessage());
    }
  }

  private void accept(Preface theirs) throws ProtocolException {
    theirs.checkCompatible();
    if (theirs.refused() || theirs.sender().equals(Epoch.NONE)) {
      throw new ProtocolException(FaultCode.INVALID, "a preface that refuses or has no epoch");
    }
    if (!theirs.expected().equals(engine.epoch())) {
      throw new ProtocolException(
          FaultCode.STALE_EPOCH,
          "the peer wants transport epoch "
              + theirs.expected()
              + ", this is "
              + engine.epoch()
              + "; ask for a new grant");
    }
    onlyWords = (theirs.required() & Wire.FEATURE_ONLY_WORDS) != 0;
    checksummed = (theirs.required() & Wire.FEATURE_CHECKSUM) != 0;
    FaultCode refusal = service.refusal(onlyWords);
    if (refusal != null) {
      throw new ProtocolException(refusal, "refused: " + refusal);
    }
  }

  private void serve(FrameBuffer input, MemorySegment header) throws ProtocolException {
    boolean small = true;
    while (input.next(frame, small)) {
      if (frame.isWord()) {
        heed();
        if (onlyWords) {
          acknowledge(header);
        }
        continue;
      }
      if (onlyWords) {
        throw new ProtocolException(FaultCode.INVALID, "a READ where only words may come");
      }
      small = frame.payloadBytes() <= TcpTicket.SMALL_BYTES;
      try {
        answer(header);
        suitPath();
      } catch (ReadRefusedException e) {
        engine.meters().refusals().add(1);
        ReplyHeader.writeRefusal(header, frame.requestId(), engine.epoch(), e.code());
        stream.sendFully(header, 0, Wire.REPLY_HEADER_BYTES);
      }
    }
  }

  private void suitPath() {
    Congestion chosen = congestion;
    if (chosen != null && chosen.lookAgain()) {
      log.info(
          "orbitte-tcp {} connection of {}: its path is short, congestion control {} from now on",
          service.endpoint(),
          remote,
          chosen.inForce());
    }
  }

  /** Sends the reply to one READ; inside the hold from the check of the token to the last byte. */
  private void answer(MemorySegment header) throws ReadRefusedException {
    TcpSourceHold hold = service.grants().find(frame.grantId(), frame.generation());
    // Before the entry, so that whoever retires the hold and finds it not drained finds this.
    serving = hold;
    try {
      FaultCode refusal = hold.enter(frame.tokenHigh(), frame.tokenLow(), requester);
      if (refusal != null) {
        throw new ReadRefusedException(refusal);
      }
      try {
        reply.clear();
        reply.add(header, 0, Wire.REPLY_HEADER_BYTES);
        byReference.clear();
        checksum.reset();
        resolve(hold);
        boolean refers = refers(hold);
        ReplyHeader.writeData(
            header, frame.requestId(), engine.epoch(), frame.payloadBytes(), refers);
        if (refers) {
          byReference.send(stream, header);
          engine.meters().referredBytes().add(frame.payloadBytes());
        } else {
          stream.sendVectorFully(reply);
        }
        if (checksummed) {
          Wire.i32(header, 0, checksum.value());
          Wire.i32(header, 4, 0);
          stream.sendFully(header, 0, Wire.CHECKSUM_BYTES);
        }
      } finally {
        reply.clear();
        hold.leave();
      }
    } finally {
      serving = null;
    }
    engine.meters().served().add(1);
    engine.meters().sentBytes().add(frame.payloadBytes());
  }

  private boolean mayRefer() {
    return saysWords && engine.settings().sendfile();
  }

  /** Whether a reply goes by reference, and its hold knows of it. */
  private boolean refers(TcpSourceHold hold) {
    boolean refers =
        mayRefer()
            && byReference.worthwhile(frame.payloadBytes(), engine.settings().sendfileLeast())
            && hold.refer(frame.requestId(), this);
    referred |= refers;
    return refers;
  }

  /** Takes a word. One on a grant that has its receipt is an old one, said again. */
  private void heed() throws ProtocolException {
    TcpSourceHold hold;
    try {
      hold = service.grants().find(frame.grantId(), frame.generation());
    } catch (ReadRefusedException e) {
      return;
    }
    if (!hold.belongsTo(frame.tokenHigh(), frame.tokenLow(), requester)) {
      throw new ProtocolException(FaultCode.DENIED, "a word on the grant of another");
    }
    hold.said(frame.requestId(), this);
  }

  /** The end of a connection proves to nobody that a word has come. */
  private void acknowledge(MemorySegment header) {
    ReplyHeader.writeData(header, frame.requestId(), engine.epoch(), 0, false);
    stream.sendFully(header, 0, Wire.REPLY_HEADER_BYTES);
  }

  private void resolve(TcpSourceHold hold) throws ReadRefusedException {
    EntryList entries = frame.entries();
    boolean files = mayRefer();
    for (int i = 0; i < entries.size(); i++) {
      int index = entries.range[i];
      long length = entries.length[i];
      long stride = entries.stride[i];
      long offset = entries.offset[i];
      // The sum was checked against overflow when the frame was decoded.
      long end = offset + stride * (entries.count[i] - 1) + length;
      if (index >= hold.ranges() || end > hold.range(index).memory().byteSize()) {
        throw new ReadRefusedException(FaultCode.INVALID);
      }
      for (int piece = 0; piece < entries.count[i]; piece++, offset += stride) {
        reply.add(hold.range(index).memory(), offset, length);
        if (checksummed) {
          checksum.add(hold.range(index).memory(), offset, length);
        }
        if (files) {
          byReference.add(hold.range(index), offset, length);
        }
      }
    }
  }

  /** Says why, and gives the peer a moment to read it: closing over unread bytes would reset. */
  private void end(FrameBuffer input, MemorySegment header, FaultCode code) {
    if (!requester.equals(Epoch.NONE)) {
      engine.meters().refusals().add(code == FaultCode.CLOSING ? 0 : 1);
      ReplyHeader.writeEnd(header, engine.epoch(), code);
      stream.sendFully(header, 0, Wire.REPLY_HEADER_BYTES);
    }
    stream.shutdown(Shutdown.WRITE);
    endLater(engine, LINGER_NANOS, new AtomicReference<>(stream));
    input.discard(LINGER_BYTES);
  }

  @Override
  public String toString() {
    return remote;
  }
}
