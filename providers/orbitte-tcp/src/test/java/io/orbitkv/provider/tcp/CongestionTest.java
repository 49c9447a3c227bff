package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.TcpListener;
import io.orbitkv.ffm.TcpStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is in force on a connection is what was chosen, as the kernel itself tells. */
final class CongestionTest {
  @Test
  void everyAllowedNameIsInForceAndReadBack() throws IOException {
    for (String name : allowed()) {
      assertThat(inForce(name)).isEqualTo(name);
    }
  }

  @Test
  void systemIsLeftAlone() throws IOException {
    assertThat(inForce("system")).isEqualTo(list("tcp_congestion_control").getFirst());
  }

  @Test
  void autoPacesNoPathOfThisHost() {
    // Guard: isShort in Congestion.lookAgain; without it a system's bbr stays.
    assertThat(inForce("auto")).isNotEqualTo("bbr");
  }

  @Test
  void anUnknownNameIsRefusedAtTheStartWithThoseThatThereAre() throws IOException {
    // Guard: Congestion.check at the listener; without it the name is passed over in silence.
    TransportException refused =
        catchThrowableOfType(
            TransportException.class, () -> Host.open("congestion", "nagle").close());
    assertThat(refused.code()).isEqualTo(FaultCode.INVALID);
    assertThat(refused.getMessage())
        .contains("orbitte-tcp-congestion 'nagle'")
        .contains(allowed())
        .doesNotContain("\n");
  }

  private static String inForce(String choice) {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (TcpListener listener = TcpListener.listen(any, 1);
        TcpStream stream = TcpStream.connect(listener.localAddress(), 10_000)) {
      String told = Congestion.apply(stream, choice).inForce();
      assertThat(stream.options().congestion()).isEqualTo(told);
      return told;
    }
  }

  private static List<String> allowed() throws IOException {
    return list("tcp_allowed_congestion_control");
  }

  private static List<String> list(String name) throws IOException {
    return List.of(Files.readString(Path.of("/proc/sys/net/ipv4", name)).strip().split(" "));
  }
}
