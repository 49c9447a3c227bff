package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.systemtests.rig.Command;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A block put at one Manager is got at another, whole, and leaves nothing behind. */
class PutAndGetTest {
  private static final int BYTES = (12 << 20) + 1234;

  @RegisterExtension final Rig rig = new Rig();

  // Guard: PartRead.complete. Without it the grant of A stays active until it expires.
  @Test
  void travelsBetweenManagersOfTheRegistry() throws IOException {
    Rig.Pair pair = rig.pair();
    travels(pair.a(), pair.b());
  }

  // Guard: the brackets of an IPv6 address in endpoint, peer list and socket path.
  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "::1"})
  void travelsBetweenManagersOfAList(String host) throws IOException {
    ManagerProcess a = rig.manager("a", "--host", host);
    ManagerProcess b = rig.manager("b", "--host", host, "--peers", a.control());
    b.awaitPeer(a);
    travels(a, b);
  }

  // Guard: the check of the file's name before the first byte is written, GetCommand.replace.
  @Test
  void missLeavesTheFileAlone() throws IOException {
    ManagerProcess a = rig.manager("a");
    Path file = Files.writeString(rig.directory().resolve("kept"), "as it was");
    Command got = rig.run("get", "nothing", file.toString(), "--socket", a.socket().toString());
    assertThat(got.exit()).isEqualTo(1);
    assertThat(got.err().lines()).hasSize(1).first().asString().contains("nothing");
    assertThat(file).hasContent("as it was");
    a.awaitQuiet();
  }

  private void travels(ManagerProcess a, ManagerProcess b) throws IOException {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    byte[] bytes = new byte[BYTES];
    new Random(seed).nextBytes(bytes);
    Path file = Files.write(rig.directory().resolve("in"), bytes);
    Path copy = rig.directory().resolve("out");
    rig.run("put", "key", file.toString(), "--socket", a.socket().toString()).succeeded();
    Command got =
        rig.run("get", "key", copy.toString(), "--json", "--socket", b.socket().toString())
            .succeeded();

    assertThat(copy).hasBinaryContent(bytes);
    assertThat(got.json().get("origin").getAsString()).isEqualTo("peer");
    // Evidence of their own on both sides, and nobody holds anything any more.
    Status owner = a.awaitQuiet();
    Status requester = b.awaitQuiet();
    assertThat(requester.number("receipts_destination.LOCAL_QUIESCED")).isPositive();
    assertThat(owner.number("receipts_source.LOCAL_QUIESCED")).isPositive();
    // The bytes went by the backend that was asked for, once.
    assertThat(requester.number("transport.received_bytes")).isEqualTo(BYTES);
    assertThat(owner.number("transport.sent_bytes")).isEqualTo(BYTES);
    // B has it of its own now.
    assertThat(
            rig.run("get", "key", copy.toString(), "--json", "--socket", b.socket().toString())
                .succeeded()
                .json()
                .get("origin")
                .getAsString())
        .isEqualTo("local");
    assertThat(a.terminate(Duration.ofSeconds(15))).isZero();
    assertThat(b.terminate(Duration.ofSeconds(15))).isZero();
  }
}
