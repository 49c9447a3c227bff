package io.orbitkv.adapter;

import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.Refusal;
import io.orbitkv.adapter.wire.Text;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.NativeException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The requests and answers of one session. Thread-safe. Its reader thread completes the futures; it
 * ends with the connection, which is final.
 */
final class Connection {
  private static final long DEFERRED_IDLE_SECONDS = 5;

  private final Path socket;
  private final FrameChannel channel;
  private final Epoch epoch;
  private final long session;
  private final AtomicLong nextRequest = new AtomicLong(1);
  private final Map<Long, CompletableFuture<Frame>> outstanding = new ConcurrentHashMap<>();
  private final Thread reader;
  private final ThreadPoolExecutor deferred;
  private volatile @Nullable TransportException lost;

  /** Takes over a channel on which WELCOME was received. */
  Connection(Path socket, FrameChannel channel, Epoch epoch, long session) {
    this.socket = socket;
    this.channel = channel;
    this.epoch = epoch;
    this.session = session;
    this.reader =
        Thread.ofPlatform()
            .daemon()
            .name("orbitkv-client " + socket.getFileName())
            .unstarted(this::read);
    this.deferred =
        new ThreadPoolExecutor(
            1,
            1,
            DEFERRED_IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("orbitkv-client-send").factory());
    deferred.allowCoreThreadTimeOut(true);
  }

  void start() {
    reader.start();
  }

  boolean alive() {
    return lost == null;
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

  /** A command; completes with the answering frame, exceptionally with the Manager's refusal. */
  CompletableFuture<Frame> command(Opcode opcode, byte[] descriptor, long scalar0, long scalar1) {
    long id = nextRequest.getAndIncrement();
    Command command = Command.of(opcode, id, epoch, descriptor.length, scalar0, scalar1);
    return submit(FrameKind.COMMAND, id, command.withDescriptor(descriptor));
  }

  /** Waits for an answer, not on the reader thread. */
  <T> T await(CompletableFuture<T> future, String what, Duration timeout) {
    if (Thread.currentThread() == reader) {
      throw new IllegalStateException(
          what + " would block the thread that reads its answer; call it from another thread");
    }
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

  /** Waits until what the reader thread wanted to send is sent. */
  void flush(Duration timeout) {
    if (deferred.getActiveCount() > 0 || !deferred.getQueue().isEmpty()) {
      var _ = await(CompletableFuture.runAsync(() -> {}, deferred), "release", timeout);
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
    deferred.shutdown();
  }

  private CompletableFuture<Frame> submit(
      FrameKind kind, long id, MemorySegment body, Fd... descriptors) {
    CompletableFuture<Frame> answer = new CompletableFuture<>();
    outstanding.put(id, answer);
    TransportException gone = lost;
    if (gone != null) {
      outstanding.remove(id);
      answer.completeExceptionally(gone);
    } else if (Thread.currentThread() == reader) {
      // The reader must go on reading while the Manager's side of the socket is full.
      deferred.execute(() -> send(kind, id, body, descriptors));
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
    if (frame.is(FrameKind.ANSWER)) {
      Command command = Command.decode(frame.body());
      if (command.opcode() == Opcode.REFUSAL.wire()) {
        FaultCode code = FaultCode.ofWire((int) command.scalar0());
        Cursor text = command.descriptor("refusal", frame.body().asSlice(Command.BYTES));
        int length = (int) Math.min(text.remaining(), Text.REFUSAL_BYTES);
        return new TransportException(code, text.text(length));
      }
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
    for (Long id : List.copyOf(outstanding.keySet())) {
      CompletableFuture<Frame> answer = outstanding.remove(id);
      if (answer != null && fault != null) {
        answer.completeExceptionally(fault);
      }
    }
  }
}
