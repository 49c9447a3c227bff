package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.NativeException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients that take more than their share, and clients that are gone. */
final class ClientBoundsTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final BlockName NAME = BlockName.of("model", new byte[] {7});

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
  void idleConnectionsDoNotDelayTheStop() {
    List<Channel> idle = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      idle.add(new Channel(socket));
    }
    // As many greetings as there are at once.
    Channel.await("greetings are under way", () -> readers() >= 16);
    long began = System.nanoTime();
    assertThat(server.stop()).isTrue();
    assertThat(System.nanoTime() - began).isLessThan(3 * SECOND);
    idle.forEach(Channel::close);
  }

  private static long readers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("orbitkv-session"))
        .count();
  }

  @Test
  void manyHalfFramesCanNotTakeTheHeap() {
    List<Channel> half = new ArrayList<>();
    boolean refused = false;
    try {
      byte[] piece = new byte[1 << 20];
      // Each is good for half of the longest frame, and so takes room for all of it.
      for (int i = 0; i < 16 && !refused; i++) {
        Channel channel = Channel.open(socket);
        half.add(channel);
        channel.sendRaw(header(channel, FrameHeader.BODY_LIMIT));
        try {
          for (int sent = 0; sent < 33; sent++) {
            channel.sendRaw(piece);
          }
        } catch (NativeException e) {
          assertThat(e.errnoName()).isIn("EPIPE", "ECONNRESET");
        }
        int open = half.size();
        Channel.await("read or refused", () -> server.sessions() < open || settled(open));
        refused = server.sessions() < open;
      }
      assertThat(refused).isTrue();
      try (Channel honest = Channel.open(socket)) {
        assertThat(honest.call(FrameKind.STATUS, 1, Channel.EMPTY).is(FrameKind.STATUS_TEXT))
            .isTrue();
      }
      half.forEach(Channel::close);
      half.clear();
      Channel.await("all are gone", () -> server.sessions() == 0);
      // What they had is free again: a long frame is read, and refused for what it says.
      try (Channel honest = Channel.open(socket)) {
        MemorySegment body = MemorySegment.ofArray(new byte[17 << 20]);
        assertThat(Channel.refusal(honest.call(FrameKind.REGISTER, 2, body)).text())
            .contains("memory of kind 0");
      }
    } finally {
      half.forEach(Channel::close);
    }
  }

  /** Whether that many readers wait for more bytes. */
  private static boolean settled(int readers) {
    return Thread.getAllStackTraces().entrySet().stream()
            .filter(entry -> entry.getKey().getName().equals("orbitkv-session"))
            .filter(
                entry ->
                    Arrays.stream(entry.getValue())
                        .anyMatch(frame -> frame.getMethodName().equals("receiveFully")))
            .count()
        >= readers;
  }

  private static byte[] header(Channel channel, long body) {
    MemorySegment header = MemorySegment.ofArray(new byte[FrameHeader.BYTES]);
    new FrameHeader(
            Command.VERSION,
            FrameKind.REGISTER.wire(),
            body,
            FrameHeader.MAGIC,
            0,
            5,
            channel.welcome().session(),
            channel.welcome().epoch())
        .encode(header);
    return header.toArray(ValueLayout.JAVA_BYTE);
  }

  @Test
  void aQueryOfTooManyNamesIsRefusedAndOneOfTheMostIsAnsweredAtOnce() {
    try (Channel channel = Channel.open(socket)) {
      byte[] most = Names.encode(Collections.nCopies(65_536, NAME));
      long began = System.nanoTime();
      assertThat(channel.command(Opcode.QUERY, 1, most, SECOND, 0).opcode())
          .isEqualTo(Opcode.QUERY_ANSWER.wire());
      assertThat(System.nanoTime() - began).isLessThan(5 * SECOND);
      byte[] more = Names.encode(Collections.nCopies(65_537, NAME));
      assertThat(ByteBuffer.wrap(more).order(ByteOrder.LITTLE_ENDIAN).getInt()).isEqualTo(65_537);
      assertThat(channel.command(Opcode.QUERY, 2, more, SECOND, 0).opcode())
          .isEqualTo(Opcode.REFUSAL.wire());
    }
  }

  @Test
  void aLeaseWhoseAnswerCouldNotBeSentIsGivenBack() {
    blocks.publish(NAME, MemorySegment.ofArray(new byte[10]), false);
    blocks.holdReads();
    Channel full = Channel.open(socket);
    long token = full.welcome().session();
    // A client that takes no answers out: the ring of the answers fills.
    for (int i = 1; i <= RingLayout.ENTRIES; i++) {
      full.sendCommand(Opcode.PING, i, new byte[0], 0, 0);
    }
    full.sendCommand(Opcode.QUERY, 5_000, Names.encode(List.of(NAME)), SECOND, 0);
    Channel.await("the read arrives", () -> blocks.heldReads() == 1);
    blocks.answerReads(token, List.of(NAME));
    assertThat(blocks.leases()).isEqualTo(1);
    full.close();
    // Guard: SessionRing.run dropping what is queued.
    Channel.await("the lease is given back", () -> blocks.leases() == 0);
    Channel.await("the session is over", () -> server.sessions() == 0);
  }

  @Test
  void aPathInUseIsFoundBeforeTheStart(@TempDir Path directory) throws IOException {
    assertThatThrownBy(() -> LocalServer.checkFree(socket))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.IN_USE))
        .hasMessageContaining(socket.toString());
    try (Channel served = Channel.open(socket)) {
      assertThat(served.welcome().session()).isNotZero();
    }
    Path free = directory.resolve("free.sock");
    LocalServer.checkFree(free);
    assertThat(free).doesNotExist();
    Path file = Files.writeString(directory.resolve("file"), "mine");
    assertThatThrownBy(() -> LocalServer.checkFree(file)).hasMessageContaining("not a socket");
    assertThat(file).hasContent("mine");
    assertThatThrownBy(() -> LocalServer.checkFree(Path.of("/nowhere/at/all.sock")))
        .hasMessageContaining("create the directory of the socket");
  }
}
