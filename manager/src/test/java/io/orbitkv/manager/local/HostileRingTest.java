package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.Refusal;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.ffm.Fd;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a client writes into its ring, or does to its events, ends at most its own session. */
@Timeout(180)
final class HostileRingTest {
  private static final int ROUNDS = 150;
  private static final int SPOTS = 40;
  private static final long WORDS = 1_024;

  private Path socket;
  private ReferenceBlocks blocks;
  private LocalServer server;

  @BeforeEach
  void start(@TempDir Path directory) {
    socket = directory.resolve("m.sock");
    blocks = new ReferenceBlocks(1 << 20);
    server = LocalServer.start(socket, LocalOptions.DEFAULTS, Epoch.random(), blocks);
  }

  @AfterEach
  void stop() {
    server.close();
    blocks.close();
  }

  // Guards: the refusals of RingConsumer. Without one of them another finds the junk a bit later;
  // without all, the Manager takes what is no command for ever, or fails by itself.
  @Test
  void randomBytesAnywhereInTheRing() {
    long seed = System.nanoTime();
    System.out.println("HostileRingTest seed " + seed);
    Random random = new Random(seed);
    try (ManagerClient honest = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
      int before = Channel.openDescriptors();
      for (int round = 0; round < ROUNDS; round++) {
        try (Channel channel = Channel.open(socket)) {
          MemorySegment memory = channel.ring().segment();
          for (int i = 0; i < SPOTS; i++) {
            scribble(memory, random);
            memory.set(ValueLayout.JAVA_LONG, RingLayout.REQUESTS.tail(), i + 1);
            channel.ring().requests().signal();
          }
          honest.ping();
          // A count that can not be, behind whatever the above led to.
          memory.set(ValueLayout.JAVA_LONG, RingLayout.REQUESTS.tail(), -1 - random.nextInt(9));
          channel.ring().requests().signal();
          Frame frame = channel.next();
          Refusal refusal = Channel.refusal(frame);
          assertThat(frame.header().requestId()).isZero();
          assertThat(refusal.code()).isEqualTo(FaultCode.CORRUPT);
          assertThat(refusal.text()).contains("connect again");
          assertThat(channel.ended()).isTrue();
        }
      }
      honest.ping();
      Channel.await("the hostile are gone", () -> server.sessions() == 1);
      Channel.await("and what they had", () -> Channel.openDescriptors() <= before);
      assertThat(blocks.leases()).isZero();
    }
  }

  // Guard: SessionRing.putNow. Without it the place of the query is never given back, and the
  // session keeps its slot for ever.
  @Test
  void headThatCanNotBeEndsTheSessionAlsoUnderAnAnswer() {
    try (Channel channel = Channel.open(socket)) {
      MemorySegment memory = channel.ring().segment();
      for (int i = 1; i <= RingLayout.ENTRIES; i++) {
        channel.sendCommand(Opcode.PING, i, new byte[0], 0, 0);
      }
      Channel.await(
          "the ring of the answers is full",
          () -> memory.get(ValueLayout.JAVA_LONG, RingLayout.ANSWERS.tail()) == RingLayout.ENTRIES);
      memory.set(ValueLayout.JAVA_LONG, RingLayout.ANSWERS.head(), 1L << 40);
      byte[] names = Names.encode(List.of(BlockName.of("m", new byte[] {1})));
      channel.sendCommand(Opcode.QUERY, RingLayout.ENTRIES + 1, names, 1_000_000_000L, 0);
      assertThat(Channel.refusal(channel.next()).code()).isEqualTo(FaultCode.CORRUPT);
      assertThat(channel.ended()).isTrue();
    }
    Channel.await("its slot is free", () -> server.sessions() == 0);
  }

  private static void scribble(MemorySegment memory, Random random) {
    byte[] junk = new byte[1 + random.nextInt(300)];
    random.nextBytes(junk);
    long at =
        switch (random.nextInt(4)) {
          case 0 -> WORDS + random.nextInt(2_048);
          case 1 -> 4_096 + random.nextInt(SPOTS * 64);
          case 2 -> 4_096 + random.nextInt(2 * 65_536 - 300);
          default -> random.nextLong(RingLayout.BYTES - 300);
        };
    MemorySegment.copy(MemorySegment.ofArray(junk), 0, memory, at, junk.length);
    if (random.nextBoolean()) {
      // Nearly a command, which leads further in.
      new Command(
              Command.VERSION,
              random.nextInt(5),
              random.nextLong(),
              new Epoch(random.nextLong(), 1),
              64L * random.nextInt(100),
              random.nextInt(500),
              random.nextInt(2),
              random.nextLong(),
              random.nextInt(4))
          .encode(memory.asSlice(RingLayout.REQUESTS.entry(random.nextInt(SPOTS)), 64));
    }
  }

  /** The Manager's thread is made to block in its own call; it still ends with its session. */
  @Test
  void anEventThatBlocksItsWriterStallsThatSessionOnly() throws Throwable {
    try (ManagerClient honest = ManagerClient.connect(socket, ClientOptions.DEFAULTS)) {
      Channel channel = Channel.open(socket);
      fillAndMakeBlocking(channel.ring().answers().fd());
      channel.ring().segment().set(ValueLayout.JAVA_INT, RingLayout.ANSWERS.sleeping(), 1);
      channel.sendCommand(Opcode.PING, 1, new byte[0], 0, 0);
      Channel.await("its thread is stuck", HostileRingTest::aRingThreadSignals);
      for (int i = 0; i < 50; i++) {
        honest.ping();
      }
      assertThat(channel.call(FrameKind.STATUS, 2, Channel.EMPTY).is(FrameKind.STATUS_TEXT))
          .isTrue();
      // Guard: SessionRing.unblock, without which this session never ends.
      channel.close();
      Channel.await("the session is over", () -> server.sessions() == 1);
      honest.ping();
    }
  }

  private static boolean aRingThreadSignals() {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(entry -> entry.getKey().getName().startsWith("orbitkv-ring"))
        .anyMatch(
            entry ->
                java.util.Arrays.stream(entry.getValue())
                    .anyMatch(frame -> frame.getMethodName().equals("signal")));
  }

  @SuppressWarnings("restricted")
  private static void fillAndMakeBlocking(Fd event) throws Throwable {
    Linker linker = Linker.nativeLinker();
    MethodHandle write =
        linker.downcallHandle(
            linker.defaultLookup().find("write").orElseThrow(),
            FunctionDescriptor.of(
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_LONG));
    MethodHandle fcntl =
        linker.downcallHandle(
            linker.defaultLookup().find("fcntl").orElseThrow(),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT),
            Linker.Option.firstVariadicArg(2));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment most = arena.allocateFrom(ValueLayout.JAVA_LONG, -2L);
      assertThat((long) write.invokeExact(event.number(), most, 8L)).isEqualTo(8);
    }
    int setFlags = 4; // F_SETFL
    assertThat((int) fcntl.invokeExact(event.number(), setFlags, 0)).isZero();
  }
}
