package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(OpenDescriptors.class)
class TcpStreamTest {
  private static final int LARGE = 4 << 20;
  private static final int TIMEOUT_MILLIS = 10_000;

  private final Arena arena = Arena.ofShared();

  @AfterEach
  void free() {
    arena.close();
  }

  record Pair(TcpStream client, TcpStream server) implements AutoCloseable {
    static Pair open() {
      return open(loopback("127.0.0.1"));
    }

    static Pair open(InetAddress host) {
      try (TcpListener listener = TcpListener.listen(new InetSocketAddress(host, 0), 16)) {
        TcpStream client = TcpStream.connect(listener.localAddress(), TIMEOUT_MILLIS);
        return new Pair(client, Eventually.present(listener.accept()));
      }
    }

    @Override
    public void close() {
      client.close();
      server.close();
    }
  }

  static InetAddress loopback(String name) {
    try {
      return InetAddress.getByName(name);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  /** IPv4, and IPv6 where this host has it. */
  static Stream<InetAddress> hosts() {
    InetAddress six = loopback("::1");
    try {
      TcpListener.listen(new InetSocketAddress(six, 0), 1).close();
      return Stream.of(loopback("127.0.0.1"), six);
    } catch (NativeException e) {
      System.out.println("IPv6 not tested on this host: " + e.getMessage());
      return Stream.of(loopback("127.0.0.1"));
    }
  }

  @ParameterizedTest
  @MethodSource("hosts")
  void bytesGoBothWaysAtOnce(InetAddress host) throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    byte[] sent = new byte[LARGE];
    new Random(seed).nextBytes(sent);
    MemorySegment source = arena.allocateFrom(JAVA_BYTE, sent);
    MemorySegment atServer = arena.allocate(LARGE + 2);
    MemorySegment atClient = arena.allocate(LARGE);
    try (Pair pair = Pair.open(host)) {
      assertThat(pair.client.localAddress()).isEqualTo(pair.server.remoteAddress());
      assertThat(pair.server.localAddress()).isEqualTo(pair.client.remoteAddress());
      assertThat(pair.client.remoteAddress().getAddress()).isEqualTo(host);
      BlockingCall<Long> serverIn =
          new BlockingCall<>(() -> pair.server.receive(atServer, 1, LARGE, true));
      BlockingCall<Long> clientIn =
          new BlockingCall<>(() -> pair.client.receive(atClient, 0, LARGE, true));
      BlockingCall<Boolean> serverOut =
          new BlockingCall<>(
              () -> {
                pair.server.sendFully(source, 0, LARGE);
                return true;
              });
      for (long done = 0; done < LARGE; ) {
        done += pair.client.send(source, done, LARGE - done);
      }
      assertThat(serverIn.result()).isEqualTo(LARGE);
      assertThat(clientIn.result()).isEqualTo(LARGE);
      assertThat(serverOut.result()).isTrue();
      assertThat(atServer.asSlice(1, LARGE).mismatch(source)).isEqualTo(-1);
      assertThat(atServer.get(JAVA_BYTE, 0)).isZero();
      assertThat(atServer.get(JAVA_BYTE, LARGE + 1)).isZero();
      assertThat(atClient.mismatch(source)).isEqualTo(-1);
    }
  }

  @Test
  void vectorsScatterAndGather() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    byte[] content = new byte[LARGE];
    random.nextBytes(content);
    MemorySegment source = arena.allocateFrom(JAVA_BYTE, content);
    MemorySegment target = arena.allocate(LARGE);
    IoVector out = cut(source, random);
    IoVector in = cut(target, random);
    try (Pair pair = Pair.open()) {
      BlockingCall<Long> receiver = new BlockingCall<>(() -> pair.server.receiveVector(in, true));
      assertThat(pair.client.sendVector(out)).isPositive();
      pair.client.sendVectorFully(out);
      assertThat(receiver.result()).isEqualTo(LARGE);
      assertThat(out.remaining()).isZero();
      assertThat(in.remaining()).isZero();
      assertThat(target.mismatch(source)).isEqualTo(-1);
    }
  }

  /** A whole segment in 1,024 ranges of random length, in order. */
  private static IoVector cut(MemorySegment segment, Random random) {
    IoVector vector = new IoVector(IoVector.MAX_RANGES);
    long at = 0;
    while (vector.ranges() < IoVector.MAX_RANGES - 1) {
      long left = LARGE - at;
      long bytes = Math.min(left, random.nextInt(LARGE / IoVector.MAX_RANGES));
      vector.add(segment, at, bytes);
      at += bytes;
    }
    vector.add(segment, at, LARGE - at);
    assertThat(vector.isFull()).isTrue();
    assertThat(vector.remaining()).isEqualTo(LARGE);
    return vector;
  }

  @Test
  void vectorGoesOnInsideARange() {
    MemorySegment source = arena.allocateFrom("abcdefghijklmnopqrstuvwxyz");
    MemorySegment target = arena.allocate(source.byteSize());
    IoVector out = new IoVector(3);
    out.add(source, 0, 10).add(source, 10, 10).add(source, 20, 6);
    IoVector in = new IoVector(2);
    in.add(target, 0, 10).add(target, 10, 16);
    try (Pair pair = Pair.open()) {
      pair.client.sendFully(source, 0, 15);
      assertThat(pair.server.receiveVector(in, false)).isEqualTo(15);
      assertThat(in.remaining()).isEqualTo(11);
      out.advance(15);
      pair.client.sendVectorFully(out);
      assertThat(pair.server.receiveVector(in, true)).isEqualTo(11);
      assertThat(target.mismatch(source)).isEqualTo(-1);
    }
  }

  @Test
  void vectorChecksItsRanges() {
    MemorySegment memory = arena.allocate(100);
    IoVector vector = new IoVector(2);
    assertThatThrownBy(() -> vector.add(memory, 90, 11))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> vector.add(memory, -1, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> vector.add(MemorySegment.ofArray(new byte[9]), 0, 9))
        .isInstanceOf(IllegalArgumentException.class);
    vector.add(memory, 100, 0);
    assertThat(vector.ranges()).isZero();
    vector.add(memory, 0, 10).add(memory, 50, 50);
    assertThatThrownBy(() -> vector.add(memory, 0, 1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> vector.advance(61)).isInstanceOf(IllegalArgumentException.class);
    vector.advance(10);
    assertThat(vector.ranges()).isEqualTo(1);
    vector.advance(49);
    assertThat(vector.remaining()).isEqualTo(1);
    vector.advance(1);
    assertThat(vector.ranges()).isZero();
    vector.clear();
    try (Pair pair = Pair.open()) {
      assertThatThrownBy(() -> pair.client.sendVector(vector))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("nothing to move");
      vector.add(memory.asReadOnly(), 0, 1);
      assertThatThrownBy(() -> pair.client.receiveVector(vector, false))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("read-only");
      vector.clear();
      try (Arena shortLived = Arena.ofConfined()) {
        vector.add(shortLived.allocate(8), 0, 8);
      }
      assertThatThrownBy(() -> pair.client.receiveVector(vector, false))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
  }

  @Test
  void receiveChecksItsRange() {
    MemorySegment memory = arena.allocate(100);
    MemorySegment gone;
    try (Arena shortLived = Arena.ofConfined()) {
      gone = shortLived.allocate(8);
    }
    try (Pair pair = Pair.open()) {
      assertThatThrownBy(() -> pair.client.receive(memory, 93, 8, false))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> pair.client.receive(memory, 0, 0, false))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> pair.client.receive(memory.asReadOnly(), 0, 8, false))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> pair.client.send(MemorySegment.ofArray(new byte[8]), 0, 8))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> pair.client.receive(gone, 0, 8, false))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> pair.client.sendFully(memory, 0, Long.MAX_VALUE))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void endOfStreamShortensAFullReceiveAndThenIsZero() {
    MemorySegment memory = arena.allocate(100);
    try (Pair pair = Pair.open()) {
      assertThat(pair.server.peekNonBlocking()).isEqualTo(TcpStream.Peek.NOTHING);
      pair.client.sendFully(memory, 0, 30);
      pair.client.shutdown(Shutdown.WRITE);
      pair.client.shutdown(Shutdown.WRITE);
      assertThat(pair.server.peekNonBlocking()).isEqualTo(TcpStream.Peek.DATA);
      assertThat(pair.server.receive(memory, 0, 100, true)).isEqualTo(30);
      assertThat(pair.server.peekNonBlocking()).isEqualTo(TcpStream.Peek.END);
      assertThat(pair.server.receive(memory, 0, 100, true)).isZero();
      pair.server.sendFully(memory, 0, 5);
      assertThat(pair.client.receive(memory, 0, 5, true)).isEqualTo(5);
    }
  }

  @Test
  void receiveNowNeverWaitsAndTellsNothingFromTheEnd() {
    MemorySegment memory = arena.allocate(100);
    IoVector vector = new IoVector(2).add(memory, 50, 20).add(memory, 90, 10);
    try (Pair pair = Pair.open()) {
      assertThat(pair.server.receiveNow(memory, 0, 100)).isEqualTo(-1);
      assertThat(pair.server.receiveVectorNow(vector)).isEqualTo(-1);
      assertThat(pair.server.awaitReadable(0)).isFalse();
      memory.set(ValueLayout.JAVA_BYTE, 24, (byte) 7);
      pair.client.sendFully(memory, 0, 25);
      assertThat(pair.server.awaitReadable(-1)).isTrue();
      assertThat(pair.server.receiveNow(memory, 0, 5)).isEqualTo(5);
      assertThat(pair.server.receiveVectorNow(vector)).isEqualTo(20);
      assertThat(vector.remaining()).isEqualTo(10);
      assertThat(memory.get(ValueLayout.JAVA_BYTE, 69)).isEqualTo((byte) 7);
      assertThat(pair.server.receiveVectorNow(vector)).isEqualTo(-1);
      pair.client.shutdown(Shutdown.WRITE);
      assertThat(pair.server.awaitReadable(-1)).isTrue();
      assertThat(pair.server.receiveNow(memory, 0, 1)).isZero();
      assertThat(pair.server.receiveVectorNow(vector)).isZero();
    }
  }

  @Test
  void aHangupWakesAndBytesDoNot() {
    MemorySegment memory = arena.allocate(8);
    try (Pair pair = Pair.open()) {
      Poll poll = new Poll(1);
      poll.add(pair.server.fd(), Poll.READ_HANGUP);
      pair.client.sendFully(memory, 0, 8);
      assertThat(pair.server.awaitReadable(-1)).isTrue();
      assertThat(poll.poll(0)).isZero();
      pair.client.shutdown(Shutdown.WRITE);
      assertThat(poll.poll(-1)).isEqualTo(1);
      assertThat(poll.ready(0) & Poll.READ_HANGUP).isNotZero();
    }
  }

  @Test
  void theRoundTripIsMeasured() {
    try (Pair pair = Pair.open()) {
      assertThat(pair.client.options().leastRoundTripMicros()).isBetween(1, 10_000_000);
    }
  }

  @Test
  void sendToAClosedPeerIsAnError() throws Exception {
    MemorySegment memory = arena.allocate(100);
    Pair pair = Pair.open();
    pair.server.close();
    Eventually.until(
        () -> {
          try {
            pair.client.sendFully(memory, 0, 100);
            return false;
          } catch (NativeException e) {
            return List.of(Errno.EPIPE, Errno.ECONNRESET).contains(e.errno());
          }
        },
        () -> "the sends go on");
    pair.client.close();
  }

  @Test
  void shutdownFromAThirdThreadEndsAStuckReceive() throws Exception {
    MemorySegment memory = arena.allocate(100);
    try (Pair pair = Pair.open()) {
      BlockingCall<Long> stuck =
          new BlockingCall<>(() -> pair.server.receive(memory, 0, 100, true));
      stuck.awaitInside(pair.server.fd().number());
      pair.server.shutdown(Shutdown.BOTH);
      assertThat(stuck.result()).isZero();
    }
  }

  @Test
  void shutdownFromAThirdThreadEndsAStuckSend() throws Exception {
    MemorySegment memory = arena.allocate(64 << 20);
    try (Pair pair = Pair.open()) {
      BlockingCall<String> stuck =
          new BlockingCall<>(
              () -> {
                try {
                  pair.client.sendFully(memory, 0, memory.byteSize());
                  return "sent";
                } catch (NativeException e) {
                  return e.errnoName();
                }
              });
      stuck.awaitInside(pair.client.fd().number());
      pair.client.shutdown(Shutdown.BOTH);
      assertThat(stuck.result()).isEqualTo("EPIPE");
    }
  }

  @Test
  void closeUnderAReaderGivesItsNumberToNobodyElse() throws Exception {
    for (int round = 0; round < 50; round++) {
      MemorySegment memory = arena.allocate(8);
      Pair pair = Pair.open();
      int number = pair.server.fd().number();
      BlockingCall<Long> reader = new BlockingCall<>(() -> pair.server.receive(memory, 0, 8, true));
      if (round % 2 == 0) {
        reader.awaitInside(number);
      }
      pair.server.close();
      // Were the number free now, one of these would have it and the reader would steal its bytes.
      List<Pair> others = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        Pair other = Pair.open();
        other.client.sendFully(arena.allocateFrom("sentinel"), 0, 8);
        other.server.sendFully(arena.allocateFrom("sentinel"), 0, 8);
        others.add(other);
      }
      try {
        assertThat(reader.result()).isZero();
      } catch (ExecutionException e) {
        assertThat(e).hasCauseInstanceOf(IllegalStateException.class);
      }
      assertThat(memory.get(JAVA_BYTE, 0)).isZero();
      for (Pair other : others) {
        assertThat(other.server.receive(memory, 0, 8, true)).isEqualTo(8);
        assertThat(other.client.receive(memory, 0, 8, true)).isEqualTo(8);
        other.close();
      }
      pair.client.close();
      assertThatThrownBy(pair.server::close).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void closingTheListenerEndsAccept() throws Exception {
    TcpListener listener = TcpListener.listen(new InetSocketAddress(loopback("127.0.0.1"), 0), 4);
    BlockingCall<@Nullable TcpStream> stuck = new BlockingCall<>(listener::accept);
    stuck.awaitInside(listener.fd().number());
    listener.close();
    assertThat(stuck.result()).isNull();
    assertThat(listener.accept()).isNull();
  }

  @Test
  void bothFamiliesShareAPort() {
    Assumptions.assumeTrue(hosts().count() == 2, "this host has no IPv6");
    try (TcpListener four = TcpListener.listen(new InetSocketAddress(loopback("0.0.0.0"), 0), 4)) {
      int port = four.localAddress().getPort();
      try (TcpListener six = TcpListener.listen(new InetSocketAddress(loopback("::"), port), 4);
          TcpStream client =
              TcpStream.connect(new InetSocketAddress(loopback("::1"), port), TIMEOUT_MILLIS);
          TcpStream server = Eventually.present(six.accept())) {
        assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
      }
    }
  }

  @Test
  void failuresOfConnectAreNamed() {
    InetSocketAddress address;
    try (TcpListener listener =
        TcpListener.listen(new InetSocketAddress(loopback("127.0.0.1"), 0), 4)) {
      address = listener.localAddress();
      assertThatThrownBy(() -> TcpListener.listen(address, 4))
          .isInstanceOf(NativeException.class)
          .hasMessageContaining("EADDRINUSE");
    }
    assertThatThrownBy(() -> TcpStream.connect(address, TIMEOUT_MILLIS))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("ECONNREFUSED")
        .hasMessageContaining(Integer.toString(address.getPort()));
    assertThatThrownBy(() -> TcpStream.connect(InetSocketAddress.createUnresolved("no.host", 1), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no.host");
    assertThatThrownBy(
            () ->
                TcpStream.connect(
                    address, new InetSocketAddress(loopback("::1"), 0), 1, options -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("one family");
  }

  @Test
  void connectGivesUpAfterItsTimeout() {
    // A full queue of connections that nobody accepts drops further ones.
    try (TcpListener listener =
        TcpListener.listen(new InetSocketAddress(loopback("127.0.0.1"), 0), 0)) {
      List<TcpStream> queued = new ArrayList<>();
      try {
        assertThatThrownBy(
                () -> {
                  while (queued.size() < 64) {
                    queued.add(TcpStream.connect(listener.localAddress(), 150));
                  }
                })
            .isInstanceOf(NativeException.class)
            .hasMessageContaining("ETIMEDOUT")
            .hasMessageContaining("150 ms");
      } finally {
        queued.forEach(TcpStream::close);
      }
    }
  }

  @Test
  void connectsFromTheAddressAsked() {
    try (TcpListener listener =
            TcpListener.listen(new InetSocketAddress(loopback("127.0.0.1"), 0), 4);
        TcpStream client =
            TcpStream.connect(
                listener.localAddress(),
                new InetSocketAddress(loopback("127.0.0.7"), 0),
                TIMEOUT_MILLIS,
                options -> options.receiveBuffer(100_000));
        TcpStream server = Eventually.present(listener.accept())) {
      assertThat(server.remoteAddress().getAddress()).isEqualTo(loopback("127.0.0.7"));
      assertThat(client.options().receiveBuffer()).isEqualTo(200_000);
    }
  }

  @Test
  void optionsReachTheKernel() {
    try (Pair pair = Pair.open()) {
      TcpOptions options = pair.client.options();
      assertThat(options.noDelay()).isFalse();
      assertThat(options.noDelay(true).noDelay()).isTrue();
      assertThat(options.sendBuffer(50_000).sendBuffer()).isEqualTo(100_000);
      assertThat(options.receiveBuffer(50_000).receiveBuffer()).isEqualTo(100_000);
      assertThat(options.unsentBytes(131_072).unsentBytes()).isEqualTo(131_072);
      assertThat(options.congestion("reno")).isTrue();
      assertThat(options.congestion()).isEqualTo("reno");
      assertThat(options.congestion("no_such")).isFalse();
      assertThat(options.congestion("a_name_longer_than_any")).isFalse();
      assertThat(options.congestion()).isEqualTo("reno");
      options.userTimeoutMillis(5_000).keepAlive(10, 5, 3);
      assertThat(SocketOption.USER_TIMEOUT.get(pair.client.fd())).isEqualTo(5_000);
      assertThat(SocketOption.KEEP_IDLE.get(pair.client.fd())).isEqualTo(10);
      assertThat(SocketOption.KEEP_INTERVAL.get(pair.client.fd())).isEqualTo(5);
      assertThat(SocketOption.KEEP_COUNT.get(pair.client.fd())).isEqualTo(3);
      assertThat(SocketOption.KEEP_ALIVE.get(pair.client.fd())).isEqualTo(1);
      options.receiveTimeoutMillis(20);
      assertThatThrownBy(() -> pair.client.receive(arena.allocate(1), 0, 1, false))
          .isInstanceOf(NativeException.class)
          .hasMessageContaining("EAGAIN");
      assertThatThrownBy(() -> options.keepAlive(-1, 0, 0)).isInstanceOf(NativeException.class);
    }
  }

  @Test
  void hotPathAllocatesNothing() {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    MemorySegment memory = arena.allocate(64);
    IoVector out = new IoVector(2);
    IoVector in = new IoVector(2);
    List<Long> perExchange = new ArrayList<>();
    try (Pair pair = Pair.open()) {
      // The first rounds are interpreted; how many, is up to the compiler threads.
      do {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 10_000; i++) {
          exchange(pair, memory, out, in);
        }
        perExchange.add((threads.getCurrentThreadAllocatedBytes() - before) / 10_000);
      } while (perExchange.getLast() > 0 && perExchange.size() < 20);
    }
    System.out.println("bytes allocated per exchange, by round: " + perExchange);
    assertThat(perExchange.getLast()).isZero();
  }

  private static void exchange(Pair pair, MemorySegment memory, IoVector out, IoVector in) {
    pair.client.sendFully(memory, 0, 64);
    pair.server.peekNonBlocking();
    pair.server.receive(memory, 0, 64, true);
    out.clear();
    out.add(memory, 0, 32).add(memory, 32, 32);
    pair.client.sendVectorFully(out);
    in.clear();
    in.add(memory, 32, 32).add(memory, 0, 32);
    pair.server.receiveVector(in, true);
  }
}
