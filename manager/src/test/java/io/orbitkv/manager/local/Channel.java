package io.orbitkv.manager.local;

import io.orbitkv.adapter.ring.RingConsumer;
import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.ring.RingMemory;
import io.orbitkv.adapter.ring.RingProducer;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameChannel;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Hello;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.Refusal;
import io.orbitkv.adapter.wire.Welcome;
import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.PidFd;
import io.orbitkv.ffm.Protection;
import io.orbitkv.ffm.UnixStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A client that sends what a test tells it to, right or wrong. For one thread. */
final class Channel implements AutoCloseable {
  static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);
  static final Duration LIMIT = Duration.ofSeconds(20);

  final UnixStream stream;
  final FrameChannel frames;
  private @Nullable Welcome welcome;
  private @Nullable RingMemory ring;
  private @Nullable RingProducer requests;
  private @Nullable RingConsumer answers;
  private @Nullable Mapping claims;

  Channel(Path socket) {
    stream = UnixStream.connect(socket);
    frames = new FrameChannel(stream);
    frames.receiveBy(System.nanoTime() + LIMIT.toNanos());
  }

  /** Connected and welcomed, once there is a slot: ended sessions take a moment to end. */
  static Channel openOnceFree(Path socket) {
    List<Channel> opened = new ArrayList<>(1);
    await(
        "a slot is free",
        () -> {
          Channel channel = new Channel(socket);
          Frame answer = channel.hello(new Hello("test", 3).encode());
          if (answer.is(FrameKind.REFUSED) && refusal(answer).code() == FaultCode.EXHAUSTED) {
            channel.close();
            return false;
          }
          return opened.add(channel.welcomed(answer));
        });
    return opened.getFirst();
  }

  /** Connected and welcomed. */
  static Channel open(Path socket) {
    Channel channel = new Channel(socket);
    return channel.welcomed(channel.hello(new Hello("test", 3).encode()));
  }

  /** Welcomed as what the greeting says. */
  void welcomed(Hello greeting) {
    var _ = welcomed(hello(greeting.encode()));
  }

  private Channel welcomed(Frame answer) {
    if (answer.is(FrameKind.REFUSED)) {
      throw new AssertionError("not welcomed: " + refusal(answer).text());
    }
    Welcome told = Welcome.decode(answer.body());
    welcome = told;
    List<Fd> fds = answer.descriptors();
    RingMemory attached =
        RingMemory.attach(
            fds.subList(told.arenas().size(), fds.size()),
            told.ring().version(),
            told.ring().bytes());
    ring = attached;
    claims = Mapping.map(fds.getLast(), 0, told.claims().bytes(), Protection.READ_WRITE, false);
    answer.discard();
    requests = new RingProducer(attached.segment(), RingLayout.REQUESTS, told.epoch());
    answers = new RingConsumer(attached.segment(), RingLayout.ANSWERS);
    frames.identify(told.epoch(), told.session());
    return this;
  }

  Welcome welcome() {
    if (welcome == null) {
      throw new IllegalStateException("not welcomed");
    }
    return welcome;
  }

  Frame hello(MemorySegment body) {
    try (PidFd self = PidFd.openSelf()) {
      return call(FrameKind.HELLO, 0, body, self.fd());
    }
  }

  Frame call(FrameKind kind, long id, MemorySegment body, Fd... descriptors) {
    frames.send(kind, id, body, descriptors);
    return next();
  }

  Frame next() {
    Frame frame = frames.receive(FrameHeader.BODY_LIMIT);
    if (frame == null) {
      throw new AssertionError("the server closed the connection");
    }
    return frame;
  }

  /** Whether the server has ended the connection. */
  boolean ended() {
    return frames.receive(FrameHeader.BODY_LIMIT) == null;
  }

  RingMemory ring() {
    return Objects.requireNonNull(ring);
  }

  /** The words of this session's claims. */
  MemorySegment claims() {
    return Objects.requireNonNull(claims).segment();
  }

  private RingConsumer answers() {
    return Objects.requireNonNull(answers);
  }

  void sendCommand(Opcode opcode, long id, byte[] descriptor, long scalar0, long scalar1) {
    putCommand(opcode, id, descriptor, scalar0, scalar1);
    if (Objects.requireNonNull(requests).consumerSleeps()) {
      ring().requests().signal();
    }
  }

  /** Puts a command in and does not wake the server. */
  void putCommand(Opcode opcode, long id, byte[] descriptor, long scalar0, long scalar1) {
    MemorySegment bytes = MemorySegment.ofArray(descriptor);
    await(
        "there is room for a command",
        () -> Objects.requireNonNull(requests).offer(opcode, id, scalar0, scalar1, bytes));
  }

  /** A command without a descriptor; false if there is no room for it now. */
  boolean tryCommand(Opcode opcode, long id) {
    RingProducer producer = Objects.requireNonNull(requests);
    boolean offered = producer.offer(opcode, id, 0, 0, EMPTY);
    if (producer.consumerSleeps()) {
      ring().requests().signal();
    }
    return offered;
  }

  Command command(Opcode opcode, long id, byte[] descriptor, long scalar0, long scalar1) {
    sendCommand(opcode, id, descriptor, scalar0, scalar1);
    return nextAnswer().command();
  }

  /** Puts a command that need not be one in, as number {@code number} of this session. */
  void sendRawCommand(long number, Command command, byte[] descriptor) {
    MemorySegment memory = ring().segment();
    long offset = command.descriptorOffset();
    if (offset >= 0 && offset <= RingLayout.ARENA_BYTES - descriptor.length) {
      MemorySegment.copy(
          MemorySegment.ofArray(descriptor),
          0,
          memory,
          RingLayout.REQUESTS.arena() + offset,
          descriptor.length);
    }
    command.encode(memory.asSlice(RingLayout.REQUESTS.entry(number), Command.BYTES));
    VarHandle.fullFence();
    memory.set(ValueLayout.JAVA_LONG, RingLayout.REQUESTS.tail(), number + 1);
    ring().requests().signal();
  }

  /** Until the Manager's thread has announced that it sleeps. */
  void awaitSleep() {
    MemorySegment memory = ring().segment();
    await(
        "the Manager sleeps",
        () -> memory.get(ValueLayout.JAVA_INT, RingLayout.REQUESTS.sleeping()) == 1);
  }

  /** The answer that is in the ring now; null if there is none. */
  @Nullable Taken answerNow() {
    Taken taken = answers().take();
    if (taken != null && answers().producerWaits()) {
      ring().requests().signal();
    }
    return taken;
  }

  Taken nextAnswer() {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (true) {
      answers().sleeping(true);
      Taken taken = answerNow();
      long left = deadline - System.nanoTime();
      if (taken != null || left <= 0) {
        answers().sleeping(false);
        if (taken == null) {
          throw new AssertionError("no answer within " + LIMIT);
        }
        return taken;
      }
      var _ = ring().answers().awaitSignal(left);
      var _ = ring().answers().tryConsume();
    }
  }

  /** Sends bytes that need not be a frame. */
  void sendRaw(byte[] bytes) {
    try (Arena arena = Arena.ofConfined()) {
      stream.sendFully(arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes), 0, bytes.length);
    }
  }

  static Refusal refusal(Frame frame) {
    if (!frame.is(FrameKind.REFUSED)) {
      throw new AssertionError("kind " + frame.header().kind() + " instead of a refusal");
    }
    return Refusal.decode(frame.body());
  }

  @Override
  public void close() {
    frames.close();
    if (ring != null) {
      ring.close();
      ring = null;
    }
    if (claims != null) {
      claims.close();
      claims = null;
    }
  }

  static void await(String what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("did not happen within " + LIMIT + ": " + what);
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  static int openDescriptors() {
    return list(Path.of("/proc/self/fd")).size();
  }

  /** How many mappings of engine memory this process has. */
  static long engineMappings() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains("memfd:orbitkv-engine")).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Path> list(Path directory) {
    try (Stream<Path> entries = Files.list(directory)) {
      return new ArrayList<>(entries.toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
