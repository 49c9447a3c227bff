package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
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

  @Test
  void whatIsInForceIsCountedAtBothEnds() throws IOException {
    for (String name : allowed()) {
      // Guard: Congestion.count in Lane.greet and OwnerConnection.greet, and uncount at their ends.
      assertCounted(name, name, "1", 0, 1);
      assertCounted(name, name, "3", 1, 2);
    }
    assertCounted("auto", inForce("auto"), "2", 1, 1);
  }

  private static void assertCounted(
      String choice, String inForce, String connections, int small, int bulk) {
    try (Host owner = Host.open("congestion", choice);
        Host requester = Host.open("congestion", choice, "connections", connections)) {
      Region source = owner.filled(1, 5);
      Region target = requester.registered(1);
      Peer peer = requester.connect(owner);
      RemoteRegion remote = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      Ticket ticket =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(Descriptor.of(target.id(), 0, 1), RemoteDescriptor.of(0, 0, 1))
                  .build());
      assertThat(Host.outcome(ticket)).isEqualTo(Outcome.COMPLETED);
      TestContext asks = requester.context;
      TestContext sends = owner.context;
      Await.until("small up", () -> asks.meter("outgoing_small_connections") == small);
      Await.until("bulk up", () -> asks.meter("outgoing_bulk_connections") == bulk);
      Await.until("asks", () -> asks.meter("outgoing_congestion_" + inForce) == small + bulk);
      Await.until("sends", () -> sends.meter("incoming_congestion_" + inForce) == small + bulk);
      peer.close();
      Await.until("small down", () -> asks.meter("outgoing_small_connections") == 0);
      Await.until("bulk down", () -> asks.meter("outgoing_bulk_connections") == 0);
      Await.until("asks no more", () -> asks.meter("outgoing_congestion_" + inForce) == 0);
      Await.until("sends no more", () -> sends.meter("incoming_congestion_" + inForce) == 0);
    }
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
