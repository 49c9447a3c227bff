package io.orbitkv.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A connection that is reset, while its descriptor is still somebody's. */
@Timeout(60)
final class TcpResetTest {
  // Guard: TcpStream.reset calls connect. Without it what was sent stays with the kernel, and is
  // read by the other end.
  @Test
  void whatWasSentIsDroppedAtOnceAndTheOtherEndIsTold() {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (TcpListener listener = TcpListener.listen(any, 1);
        TcpStream sender = TcpStream.connect(listener.localAddress(), null, 5_000, options -> {});
        TcpStream receiver = listener.accept();
        Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(64);
      sender.sendFully(bytes, 0, 64);
      sender.reset();
      assertThatThrownBy(() -> receiveAll(receiver, bytes))
          .isInstanceOfSatisfying(
              NativeException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ECONNRESET));
      assertThatThrownBy(() -> sender.sendFully(bytes, 0, 64)).isInstanceOf(NativeException.class);
      sender.shutdown(Shutdown.BOTH);
    }
  }

  private static void receiveAll(TcpStream receiver, MemorySegment bytes) {
    while (receiver.receive(bytes, 0, bytes.byteSize(), false) > 0) {
      // What had arrived before the reset may be read first.
    }
  }
}
