package io.orbitkv.adapter.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Memfd;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One ring, its arena, and the two who share it. */
@Timeout(180)
final class RingTest {
  private static final RingLayout RING = RingLayout.REQUESTS;
  private static final Epoch EPOCH = new Epoch(0x0001020304050607L, 0x08090a0b0c0d0e0fL);
  private static final MemorySegment NONE = MemorySegment.ofArray(new byte[0]);

  private final RingMemory.Made made = RingMemory.create(EPOCH, 7);
  private final MemorySegment memory = made.memory().segment();
  private final RingProducer producer = new RingProducer(memory, RING, EPOCH);
  private final RingConsumer consumer = new RingConsumer(memory, RING);

  @AfterEach
  void close() {
    made.memory().close();
    made.memfd().close();
  }

  private static MemorySegment bytes(long seed, int length) {
    byte[] content = new byte[length];
    new Random(seed).nextBytes(content);
    return MemorySegment.ofArray(content);
  }

  private boolean offer(long id, MemorySegment descriptor) {
    return producer.offer(Opcode.QUERY, id, id * 3, -id, descriptor);
  }

  private Taken take() {
    return Objects.requireNonNull(consumer.take());
  }

  private static void assertBroken(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.CORRUPT));
  }

  @Test
  void everyWordLiesWhereTheDocumentSays() {
    assertThat(memory.byteSize()).isEqualTo(16_912_384);
    assertThat(Memfd.seals(made.memfd()))
        .isEqualTo(Memfd.F_SEAL_SEAL | Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW);
    assertThat(memory.get(ValueLayout.JAVA_INT, 0)).isEqualTo(0x52564b4f);
    assertThat(memory.get(ValueLayout.JAVA_INT, 4)).isEqualTo(1);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 9)).isEqualTo((byte) 1);
    assertThat(memory.get(ValueLayout.JAVA_LONG, 24)).isEqualTo(7);
    assertThat(offer(5, bytes(1, 100))).isTrue();
    assertThat(offer(6, bytes(2, 100))).isTrue();
    assertThat(memory.get(ValueLayout.JAVA_LONG, 1024)).isEqualTo(2);
    Command second = Command.decode(memory.asSlice(4096 + 64, 64));
    assertThat(second)
        .isEqualTo(new Command(2, Opcode.QUERY.wire(), 6, EPOCH, 128, 100, 0, 18, -6));
    assertThat(memory.asSlice(135_168 + 128, 100).mismatch(bytes(2, 100))).isEqualTo(-1);
    consumer.sleeping(true);
    producer.waitsForRoom(true);
    assertThat(memory.get(ValueLayout.JAVA_INT, 1280)).isEqualTo(1);
    assertThat(memory.get(ValueLayout.JAVA_INT, 1408)).isEqualTo(1);
    assertThat(take().command().requestId()).isEqualTo(5);
    assertThat(memory.get(ValueLayout.JAVA_LONG, 1152)).isEqualTo(1);
    assertThat(RingLayout.ANSWERS.tail()).isEqualTo(2048);
    assertThat(RingLayout.ANSWERS.head()).isEqualTo(2176);
    assertThat(RingLayout.ANSWERS.sleeping()).isEqualTo(2304);
    assertThat(RingLayout.ANSWERS.full()).isEqualTo(2432);
    assertThat(RingLayout.ANSWERS.entry(1025)).isEqualTo(69_632 + 64);
    assertThat(RingLayout.ANSWERS.arena()).isEqualTo(8_523_776);
  }

  // Guard: RingProducer.room, the count of entries.
  @Test
  void aFullRingTakesNothingAndLosesNothing() {
    for (int i = 0; i < RingLayout.ENTRIES; i++) {
      assertThat(offer(i, NONE)).isTrue();
    }
    assertThat(offer(9_999, NONE)).isFalse();
    assertThat(producer.hasRoom(0)).isFalse();
    assertThat(take().command().requestId()).isZero();
    assertThat(offer(1_024, NONE)).isTrue();
    assertThat(offer(9_999, NONE)).isFalse();
    for (int i = 1; i <= RingLayout.ENTRIES; i++) {
      assertThat(take().command().requestId()).isEqualTo(i);
    }
    assertThat(consumer.take()).isNull();
  }

  // Guard: RingProducer.fits.
  @Test
  void aFullArenaTakesNothingAndLosesNothing() {
    MemorySegment large = bytes(3, (int) RingLayout.DESCRIPTOR_BYTES);
    assertThat(offer(1, large)).isTrue();
    assertThat(offer(2, large)).isTrue();
    assertThat(offer(3, bytes(4, 1))).isFalse();
    assertThat(offer(3, NONE)).as("without a descriptor it needs no arena").isTrue();
    assertThat(take().descriptor().mismatch(large)).isEqualTo(-1);
    assertThat(offer(4, bytes(4, 1))).isTrue();
    assertThat(take().descriptor().mismatch(large)).isEqualTo(-1);
    assertThat(take().descriptor().byteSize()).isZero();
    assertThat(take().descriptor().mismatch(bytes(4, 1))).isEqualTo(-1);
    assertThatThrownBy(() -> offer(5, bytes(5, (int) RingLayout.DESCRIPTOR_BYTES + 1)))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.INVALID))
        .hasMessageContaining("4194304");
    assertThat(consumer.take()).isNull();
  }

  @Test
  void descriptorsOfAnyLengthSurviveManyLaps() {
    long seed = System.nanoTime();
    System.out.println("RingTest seed " + seed);
    Random random = new Random(seed);
    long given = 0;
    long taken = 0;
    while (taken < 4_000) {
      int length = random.nextInt(8) == 0 ? random.nextInt(1 << 20) : random.nextInt(3_000);
      if (random.nextInt(3) > 0 && offer(given + 1, bytes(seed + given + 1, length))) {
        given++;
      } else if (given > taken) {
        Taken next = take();
        taken++;
        assertThat(next.command().requestId()).isEqualTo(taken);
        assertThat(next.command().scalar0()).isEqualTo(taken * 3);
        MemorySegment descriptor = next.descriptor();
        assertThat(descriptor.mismatch(bytes(seed + taken, (int) descriptor.byteSize())))
            .isEqualTo(-1);
      }
    }
  }

  // Guard: RingProducer.WARM_BYTES.
  @Test
  void shortDescriptorsStayInTheFirstPagesOfTheArena() {
    for (int i = 0; i < 20_000; i++) {
      assertThat(offer(i, bytes(i, 1_000))).isTrue();
      Taken taken = take();
      assertThat(taken.command().descriptorOffset()).isLessThan(512 << 10);
      assertThat(taken.descriptor().mismatch(bytes(i, 1_000))).isEqualTo(-1);
    }
  }

  private void write(long number, Command command) {
    command.encode(memory.asSlice(RING.entry(number), Command.BYTES));
    memory.set(ValueLayout.JAVA_LONG, RING.tail(), number + 1);
  }

  private static Command at(long offset, long length, long lap) {
    return new Command(2, Opcode.QUERY.wire(), 1, EPOCH, offset, length, lap, 0, 0);
  }

  // Guard: RingConsumer.descriptor, one line each.
  @Test
  void aDescriptorOutOfTurnOrPlaceBreaksTheRing() {
    long arena = RingLayout.ARENA_BYTES;
    long[][] wrong = {
      {1, 8, 0},
      {-64, 8, 0},
      {arena, 8, 0},
      {arena - 64, 65, 0},
      {Long.MAX_VALUE - 63, 64, 0},
      {0, RingLayout.DESCRIPTOR_BYTES + 1, 0},
      {0, 0xffff_ffffL, 0},
      {64, 8, 1},
      {0, 8, 2},
      {0, 8, -1},
      {0, 8, 1L << 41},
      {0, 8, Long.MAX_VALUE},
      {0, 8, Long.MIN_VALUE},
    };
    for (long[] one : wrong) {
      RingConsumer fresh = new RingConsumer(memory, RING);
      write(0, at(one[0], one[1], one[2]));
      assertBroken(fresh::take);
    }
    write(0, at(128, 100, 0));
    assertThat(consumer.take()).isNotNull();
    write(1, at(128, 100, 0));
    assertBroken(consumer::take);
    write(1, at(192, 100, 0));
    assertBroken(consumer::take);
    write(1, at(0, 100, 1));
    assertThat(consumer.take()).isNotNull();
    write(2, at(256, 100, 0));
    assertBroken(consumer::take);
  }

  // Guard: RingConsumer.written and RingProducer.takeBack.
  @Test
  void countsThatCanNotBeBreakTheRing() {
    assertThat(offer(1, NONE)).isTrue();
    assertThat(take()).isNotNull();
    for (long tail : new long[] {0, 1_026, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      memory.set(ValueLayout.JAVA_LONG, RING.tail(), tail);
      assertThat(consumer.ready()).isTrue();
      assertBroken(consumer::take);
    }
    for (long head : new long[] {RingLayout.ENTRIES + 1, -1, Long.MAX_VALUE}) {
      RingProducer full = new RingProducer(memory, RING, EPOCH);
      for (int i = 0; i < RingLayout.ENTRIES; i++) {
        assertThat(full.offer(Opcode.PING, i, 0, 0, NONE)).isTrue();
      }
      memory.set(ValueLayout.JAVA_LONG, RING.head(), head);
      assertBroken(() -> full.offer(Opcode.PING, 1, 0, 0, NONE));
    }
  }

  @Test
  void whatIsChangedAfterItWasTakenChangesNothing() {
    assertThat(offer(1, bytes(1, 64))).isTrue();
    Taken taken = take();
    memory.asSlice(RING.arena(), 64).fill((byte) 0x5a);
    memory.asSlice(RING.entry(0), 64).fill((byte) 0x5a);
    // Guard: the copies in RingConsumer.
    assertThat(taken.descriptor().mismatch(bytes(1, 64))).isEqualTo(-1);
    assertThat(taken.command().requestId()).isEqualTo(1);
  }

  /** Both ends sleep on their events whenever they can: a lost wake would end this by its limit. */
  @Test
  void twoThreadsLoseNoWakeAndNoByte() throws InterruptedException {
    int count = 60_000;
    Thread other =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 1; i <= count; i++) {
                    MemorySegment descriptor = bytes(i, i % 700);
                    while (!offer(i, descriptor)) {
                      producer.waitsForRoom(true);
                      if (!producer.hasRoom(descriptor.byteSize())) {
                        boolean _ = made.memory().answers().awaitSignal(-1);
                        long _ = made.memory().answers().tryConsume();
                      }
                      producer.waitsForRoom(false);
                    }
                    if (producer.consumerSleeps()) {
                      made.memory().requests().signal();
                    }
                  }
                });
    for (int i = 1; i <= count; i++) {
      Taken taken = consumer.take();
      while (taken == null) {
        consumer.sleeping(true);
        if (!consumer.ready()) {
          assertThat(made.memory().requests().awaitSignal(TimeUnit.SECONDS.toNanos(60))).isTrue();
          long _ = made.memory().requests().tryConsume();
        }
        consumer.sleeping(false);
        taken = consumer.take();
      }
      if (consumer.producerWaits()) {
        made.memory().answers().signal();
      }
      assertThat(taken.command().requestId()).isEqualTo(i);
      assertThat(taken.descriptor().mismatch(bytes(i, i % 700))).isEqualTo(-1);
    }
    other.join();
  }

  @Test
  void twoProcessesEcho() throws Exception {
    int count = 20_000;
    Process echo =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("jdk.module.path", "")
                    + ":"
                    + System.getProperty("java.class.path"),
                RingEcho.class.getName(),
                "/proc/" + ProcessHandle.current().pid() + "/fd/" + made.memfd().number(),
                String.valueOf(count))
            .inheritIO()
            .start();
    try {
      RingConsumer answers = new RingConsumer(memory, RingLayout.ANSWERS);
      RingWait wait = new RingWait();
      long given = 0;
      for (long taken = 0; taken < count; ) {
        int length = (int) (given % 900);
        if (given < count && offer(given + 1, bytes(given + 1, length))) {
          given++;
          continue;
        }
        assertThat(echo.isAlive() || answers.ready()).isTrue();
        boolean _ = wait.poll(answers::ready);
        for (Taken answer = answers.take(); answer != null; answer = answers.take()) {
          taken++;
          assertThat(answer.command().requestId()).isEqualTo(taken);
          assertThat(answer.descriptor().mismatch(bytes(taken, (int) ((taken - 1) % 900))))
              .isEqualTo(-1);
        }
      }
      assertThat(echo.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(echo.exitValue()).isZero();
    } finally {
      echo.destroyForcibly().waitFor();
    }
  }
}
