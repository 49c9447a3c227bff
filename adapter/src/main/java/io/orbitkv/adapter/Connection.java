package io.orbitkv.adapter;

import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.Refusal;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.PidFd;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests and answers of one session: lifecycle frames over the socket, which its reader
 * thread reads, and commands in the ring. Thread-safe. Its end is final.
 */
final class Connection {
  private final Path socket;
  private final FrameChannel channel;
  private final Epoch epoch;
  private final long session;
  private final AtomicLong nextRequest = new AtomicLong(1);
  private final Map<Long, CompletableFuture<Frame>> outstanding = new ConcurrentHashMap<>();
  private final Thread reader;
  private final RingCalls calls;
  private final @Nullable PidFd manager;
  private final long roomNanos;
  private volatile @Nullable TransportException lost;
  private volatile boolean managerExited;

  /** Takes over what a Manager has welcomed, but for its arenas. */
  Connection(Path socket, Bootstrap bootstrap, Duration timeout) {
    this.socket = socket;
    this.channel = bootstrap.channel();
    this.epoch = bootstrap.welcome().epoch();
    this.session = bootstrap.welcome().session();
    this.manager = bootstrap.manager();
    this.roomNanos = timeout.toNanos();
    String name = String.valueOf(socket.getFileName());
    this.calls =
        new RingCalls(
            name,
            bootstrap.ring(),
            epoch,
            manager,
            nextRequest::getAndIncrement,
            why -> lose(why, null));
    this.reader = Thread.ofPlatform().daemon().name("orbitkv-client " + name).unstarted(this::read);
  }

  void start() {
    reader.start();
  }

  boolean alive() {
    return lost == null;
  }

  /** A number that no other operation or request of this session has. */
  long newOperation() {
    return nextRequest.getAndIncrement();
  }

  /**
   * Whether the Manager's process lives, by its pidfd alone; by the connection where the process
   * can not be known. After the end of this connection: what was last seen.
   */
  boolean managerAlive() {
    if (manager == null) {
      return alive();
    }
    if (!managerExited) {
      try {
        managerExited = manager.hasExited();
      } catch (IllegalStateException _) {
        return !managerExited; // closed with this connection
      }
    }
    return !managerExited;
  }

  /**
   * Whether it is proven that the Manager's process has exited; a lost connection proves nothing.
   */
  boolean managerExited() {
    return manager != null && !managerAlive();
  }

  Epoch epoch() {
    return epoch;
  }

  long session() {
    return session;
  }

  /** A lifecycle frame; completes with its answer, exceptionally with the Manager's refusal. */
  CompletableFuture<Frame> call(FrameKind kind, MemorySegment body, Fd... descriptors) {
    return submit(kind, nextRequest.getAndIncrement(), body, descriptors);
  }

  /**
   * A command whose future completes with its answer, a refusal or not, on the thread for that;
   * exceptionally if it was not submitted, or the connection is lost. Waits while the ring is full.
   */
  RingCall begin(Opcode opcode, byte[] descriptor, long scalar0, long scalar1) {
    return calls.start(opcode, descriptor, scalar0, scalar1, roomNanos);
  }

  /**
   * As {@link #begin}, for a publish: throws if nothing was submitted.
   *
   * @throws SaveNotSubmitted if the command is proven not to be in the ring
   */
  RingCall open(Opcode opcode, byte[] descriptor, long scalar0, long scalar1) {
    return calls.open(opcode, descriptor, scalar0, scalar1, roomNanos);
  }

  /** A command whose answer nobody needs. */
  void tell(Opcode opcode, long scalar0, long scalar1) {
    calls.send(opcode, scalar0, scalar1, roomNanos);
  }

  /**
   * A command and its answer; throws the Manager's refusal.
   *
   * @param late gets an answer that comes after the timeout; null if nobody needs it
   */
  Taken command(
      Opcode opcode,
      byte[] descriptor,
      long scalar0,
      long scalar1,
      Duration timeout,
      @Nullable Consumer<Taken> late) {
    refuseOwnThreads(opcode.toString());
    return Answers.unlessRefused(calls.call(opcode, descriptor, scalar0, scalar1, timeout, late));
  }

  /** Waits for an answer, not on the reader thread. */
  <T> T await(CompletableFuture<T> future, String what, Duration timeout) {
    refuseOwnThreads(what);
    try {
      return future.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new TransportException(
          FaultCode.DEADLINE, what + ": no answer from " + socket + " within " + timeout, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TransportException(FaultCode.CANCELLED, what + ": interrupted", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof TransportException fault) {
        throw new TransportException(fault.code(), String.valueOf(fault.getMessage()), fault);
      }
      throw new TransportException(FaultCode.INTERNAL, what + ": " + e.getCause(), e);
    }
  }

  /** Ends the connection and waits for the reader thread, unless this is it. */
  void end(String why) {
    lose(why, null);
    channel.shutdown();
    boolean interrupted = false;
    while (Thread.currentThread() != reader && reader.isAlive()) {
      try {
        reader.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    calls.close();
    if (manager != null) {
      manager.close();
    }
  }

  /** Throws on a thread whose work an answer may need. */
  void refuseOwnThreads(String what) {
    if (Thread.currentThread() == reader || calls.onTeller()) {
      throw new IllegalStateException(
          what + " would block a thread that its answer may need; call it from another thread");
    }
  }

  private CompletableFuture<Frame> submit(
      FrameKind kind, long id, MemorySegment body, Fd... descriptors) {
    OwnProcess.check();
    CompletableFuture<Frame> answer = new CompletableFuture<>();
    outstanding.put(id, answer);
    TransportException gone = lost;
    if (gone != null) {
      outstanding.remove(id);
      answer.completeExceptionally(gone);
    } else {
      send(kind, id, body, descriptors);
    }
    return answer;
  }

  private void send(FrameKind kind, long id, MemorySegment body, Fd... descriptors) {
    try {
      channel.send(kind, id, body, descriptors);
    } catch (TransportException e) {
      CompletableFuture<Frame> answer = outstanding.remove(id);
      if (answer != null) {
        answer.completeExceptionally(e);
      }
    } catch (NativeException | IllegalStateException e) {
      lose("sending to it failed", e);
      channel.shutdown();
    }
  }

  private void read() {
    String why = "it closed the connection";
    Exception cause = null;
    try {
      while (true) {
        Frame frame = channel.receive(FrameHeader.BODY_LIMIT);
        if (frame == null) {
          break;
        }
        frame.discard();
        accept(frame);
      }
    } catch (TransportException | NativeException | IllegalStateException e) {
      why = "receiving from it failed: " + e.getMessage();
      cause = e;
    }
    lose(why, cause);
    channel.close();
  }

  private void accept(Frame frame) {
    FrameHeader header = frame.header();
    if (header.version() != Command.VERSION) {
      throw new TransportException(FaultCode.CORRUPT, "frame of version " + header.version());
    }
    if (!header.epoch().equals(epoch) || header.session() != session) {
      throw new TransportException(FaultCode.CORRUPT, "frame of another session");
    }
    CompletableFuture<Frame> answer = outstanding.remove(header.requestId());
    if (answer == null) {
      if (header.requestId() == 0 && frame.is(FrameKind.REFUSED)) {
        lose("it ended the session: " + Refusal.decode(frame.body()).text(), null);
      }
      return;
    }
    try {
      TransportException refusal = refusal(frame);
      if (refusal == null) {
        answer.complete(frame);
      } else {
        answer.completeExceptionally(refusal);
      }
    } catch (TransportException e) {
      answer.completeExceptionally(e);
    }
  }

  private static @Nullable TransportException refusal(Frame frame) {
    if (frame.is(FrameKind.REFUSED)) {
      return Refusal.decode(frame.body()).exception();
    }
    return null;
  }

  private void lose(String why, @Nullable Exception cause) {
    synchronized (this) {
      if (lost == null) {
        String message =
            "Manager behind " + socket + ": " + why + "; connect again once it is running";
        lost =
            cause == null
                ? new TransportException(FaultCode.PEER_LOST, message)
                : new TransportException(FaultCode.PEER_LOST, message, cause);
      }
    }
    TransportException fault = lost;
    if (fault != null) {
      calls.lose(fault);
    }
    for (Long id : List.copyOf(outstanding.keySet())) {
      CompletableFuture<Frame> answer = outstanding.remove(id);
      if (answer != null && fault != null) {
        answer.completeExceptionally(fault);
      }
    }
  }
}
