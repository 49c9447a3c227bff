package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Hello;
import io.orbitkv.adapter.wire.MemoryOffer;
import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.api.Epoch;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.PidFd;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bytes that mean harm end at most the session that sent them. */
final class HostileClientTest {
  private static final int ROUNDS = 400;

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

  @Test
  void randomBytesInsteadOfHello() {
    Random random = seeded();
    try (Channel honest = Channel.open(socket)) {
      int before = Channel.openDescriptors();
      for (int round = 0; round < ROUNDS; round++) {
        byte[] bytes = new byte[1 + random.nextInt(300)];
        random.nextBytes(bytes);
        try (Channel channel = new Channel(socket)) {
          trySend(channel, bytes);
        }
      }
      assertServes(honest);
      Channel.await("the hostile are gone", () -> Channel.openDescriptors() <= before);
    }
  }

  @Test
  void mutatedFramesOfAWelcomedSession() {
    Random random = seeded();
    try (Channel honest = Channel.open(socket)) {
      for (int round = 0; round < ROUNDS; round++) {
        try (Channel channel = Channel.open(socket)) {
          for (int i = 0; i < 4; i++) {
            byte[] bytes = frame(channel, random);
            for (int flips = random.nextInt(4); flips > 0; flips--) {
              // Not the length: a longer frame only waits for bytes, which is another test.
              int at = random.nextInt(bytes.length - 8);
              bytes[at < 4 ? at : at + 4] ^= (byte) (1 << random.nextInt(8));
            }
            trySend(channel, bytes);
          }
        }
        if (round % 50 == 0) {
          assertServes(honest);
        }
      }
      assertServes(honest);
      Channel.await("the hostile are gone", () -> server.sessions() == 1);
    }
    assertThat(blocks.leases()).isZero();
  }

  @Test
  void aFrameLongerThanTheLimitEndsTheSessionWithTheReason() {
    try (Channel channel = Channel.open(socket)) {
      MemorySegment header = MemorySegment.ofArray(new byte[FrameHeader.BYTES]);
      new FrameHeader(
              Command.VERSION,
              FrameKind.STATUS.wire(),
              FrameHeader.BODY_LIMIT + 1L,
              FrameHeader.MAGIC,
              0,
              5,
              channel.welcome().session(),
              channel.welcome().epoch())
          .encode(header);
      channel.sendRaw(header.toArray(ValueLayout.JAVA_BYTE));
      assertThat(Channel.refusal(channel.next()).text()).contains("limit");
      assertThat(channel.ended()).isTrue();
    }
  }

  @Test
  void moreDescriptorsThanAnnouncedAreClosed() {
    try (Channel honest = Channel.open(socket)) {
      int before = Channel.openDescriptors();
      for (int i = 0; i < 50; i++) {
        try (Channel channel = new Channel(socket);
            PidFd self = PidFd.openSelf()) {
          MemorySegment body = new Hello("x", 1).encode();
          channel.frames.send(FrameKind.HELLO, 0, body, self.fd(), self.fd(), self.fd());
          assertThat(Channel.refusal(channel.next()).text()).contains("3 descriptors");
        }
      }
      assertServes(honest);
      Channel.await("they are closed", () -> Channel.openDescriptors() <= before);
    }
  }

  private static byte[] frame(Channel channel, Random random) {
    long id = 1L + random.nextInt(1_000);
    Epoch epoch = channel.welcome().epoch();
    MemorySegment body =
        switch (random.nextInt(4)) {
          case 0 -> new MemoryOffer(1, 0, 4_096).encode();
          case 1 -> new RegistrationId(random.nextInt(3), random.nextLong()).encode();
          default -> MemorySegment.ofArray(new byte[random.nextInt(200)]);
        };
    int kind = 1 + random.nextInt(FrameKind.values().length + 3);
    MemorySegment whole =
        MemorySegment.ofArray(new byte[FrameHeader.BYTES + (int) body.byteSize()]);
    new FrameHeader(
            Command.VERSION,
            kind,
            body.byteSize(),
            FrameHeader.MAGIC,
            0,
            id,
            channel.welcome().session(),
            epoch)
        .encode(whole);
    MemorySegment.copy(body, 0, whole, FrameHeader.BYTES, body.byteSize());
    return whole.toArray(ValueLayout.JAVA_BYTE);
  }

  private static void trySend(Channel channel, byte[] bytes) {
    try {
      channel.sendRaw(bytes);
    } catch (NativeException e) {
      assertThat(e.errnoName()).isIn("EPIPE", "ECONNRESET");
    }
  }

  private static void assertServes(Channel honest) {
    assertThat(honest.call(FrameKind.STATUS, 1, Channel.EMPTY).is(FrameKind.STATUS_TEXT)).isTrue();
  }

  private static Random seeded() {
    long seed = System.nanoTime();
    System.out.println("HostileClientTest seed " + seed);
    return new Random(seed);
  }
}
