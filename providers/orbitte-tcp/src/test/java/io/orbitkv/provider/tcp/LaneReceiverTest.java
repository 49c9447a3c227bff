package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads receive on a lane one after the other; what one has seen holds for the next. */
final class LaneReceiverTest {
  private static final int BYTES = 100;
  private static final int PREFACE_BYTES = 64;
  private static final int HEADER_BYTES = 40;
  private static final int ROUNDS = 500;

  private final Epoch epoch = Epoch.random();

  /**
   * The owner sends a reply that is not due and a sound one right behind it; the lane's own thread
   * and three that wait for moments receive.
   */
  @Test
  void nobodyReceivesBehindAWrongReply() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    try (Host requester = Host.open("connections", "1")) {
      Region target = requester.registered(BYTES);
      for (int round = 0; round < ROUNDS; round++) {
        target.memory().fill((byte) 0);
        Outcome outcome = readBehindAWrongReply(requester, target, seed + round);
        // Guard: open = null in LaneReceiver.serve; without it another thread takes the second one.
        assertThat(outcome).as("round %d", round).isInstanceOf(Outcome.Failed.class);
        assertThat(target.memory().get(ValueLayout.JAVA_BYTE, 0)).isZero();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {100_000, 1 << 20})
  void aThreadThatLeavesInsideAReplyLeavesItWhole(int bytes) throws Exception {
    try (Host owner = Host.open();
        Host requester = Host.open("connections", "1");
        Proxy proxy = new Proxy(owner.transport)) {
      Region source = owner.filled(bytes, 5);
      Region target = requester.registered(bytes);
      Peer peer =
          requester.transport.connect(proxy.endpoint(), owner.transport.epoch(), new byte[0]);
      var remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      proxy.allow(PREFACE_BYTES + HEADER_BYTES + 5_000);
      Ticket ticket =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(Descriptor.of(target.id(), 0, bytes), RemoteDescriptor.of(0, 0, bytes))
                  .build());
      CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
      Thread waiting = Thread.ofPlatform().start(() -> interrupted.complete(waits(ticket)));
      Await.until("inside", () -> requester.context.meter("received_bytes") == 5_000);
      waiting.interrupt();
      // Guard: isInterrupted in LaneReceiver.goesOn; without it the thread stays as long as no byte
      // comes.
      assertThat(interrupted.get(20, TimeUnit.SECONDS)).isTrue();
      // A deadline ends another one's wait inside of the same reply.
      assertThat(ticket.await(TimeUnit.MILLISECONDS.toNanos(40))).isEmpty();
      proxy.allow(Long.MAX_VALUE);
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      assertThat(target.memory().mismatch(source.memory())).isEqualTo(-1);
      requester.spend(ticket);
      assertThat(requester.context.meter("connection_failures")).isZero();
    }
  }

  private static boolean waits(Ticket ticket) {
    try {
      var _ = ticket.await(TimeUnit.SECONDS.toNanos(60));
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }

  private Outcome readBehindAWrongReply(Host requester, Region target, long seed) throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      var served = CompletableFuture.runAsync(() -> serve(listener, requester));
      Peer peer =
          requester.transport.connect(
              URI.create("orbitte+tcp://127.0.0.1:" + listener.getLocalPort()), epoch, new byte[0]);
      var remote = peer.importRegion(wireForm(requester.transport.epoch()));
      Ticket ticket =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(Descriptor.of(target.id(), 0, BYTES), RemoteDescriptor.of(0, 0, BYTES))
                  .build());
      List<Thread> waiting = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Random random = new Random(seed * 31 + i);
        waiting.add(Thread.ofPlatform().start(() -> waitForMoments(ticket, random)));
      }
      // Calls the lane's own thread each time.
      Await.until("outcome", () -> ticket.outcome().isPresent());
      Outcome outcome = ticket.outcome().orElseThrow();
      for (Thread thread : waiting) {
        thread.join();
      }
      requester.spend(ticket);
      peer.close();
      served.get(20, TimeUnit.SECONDS);
      return outcome;
    }
  }

  private static void waitForMoments(Ticket ticket, Random random) {
    try {
      while (ticket.await(1 + random.nextInt(2_000)).isEmpty()) {
        Thread.onSpinWait();
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void serve(ServerSocket listener, Host requester) {
    try (Socket socket = listener.accept()) {
      byte[] preface =
          RawRequester.preface(RawRequester.MAGIC, 1, 0, epoch, requester.transport.epoch());
      assertThat(socket.getInputStream().readNBytes(64)).hasSize(64);
      socket.getOutputStream().write(preface);
      ByteBuffer read = ByteBuffer.wrap(socket.getInputStream().readNBytes(80));
      ByteBuffer replies = ByteBuffer.allocate(HEADER_BYTES + HEADER_BYTES + BYTES);
      header(replies, 0, read.getLong(8) + 1_000_000);
      header(replies, HEADER_BYTES, read.getLong(8));
      for (int i = 2 * HEADER_BYTES; i < replies.capacity(); i++) {
        replies.put(i, (byte) 1);
      }
      socket.getOutputStream().write(replies.array());
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    } catch (IOException e) {
      // Reset by the requester, over bytes that it did not take.
    }
  }

  private void header(ByteBuffer to, int at, long requestId) {
    to.put(at, (byte) 2).putLong(at + 8, requestId);
    to.putLong(at + 16, epoch.high()).putLong(at + 24, epoch.low()).putLong(at + 32, BYTES);
  }

  private byte[] wireForm(Epoch requester) {
    ByteBuffer form = ByteBuffer.allocate(80);
    form.putShort(0, (short) 1).putInt(4, 1).putLong(8, 1).putLong(16, 1);
    form.putLong(24, epoch.high()).putLong(32, epoch.low());
    form.putLong(40, requester.high()).putLong(48, requester.low()).putLong(72, BYTES);
    return form.array();
  }
}
