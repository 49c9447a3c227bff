package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import io.orbitkv.systemtests.rig.Command;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Namespaces;
import io.orbitkv.systemtests.rig.Rig;
import io.orbitkv.systemtests.rig.Trace;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A conversation trace hits as often as it can at all, on one host and between two. */
class ReplayTest {
  private static final int BLOCK_BYTES = 96 << 10;

  @RegisterExtension final Rig rig = new Rig();

  private final long seed = System.nanoTime();

  // Guard: any block that is lost, evicted without need, or read before it is sealed costs a hit;
  // any page that was reused too early costs a byte.
  @Test
  void hitsAsOftenAsACacheThatNeverForgets() {
    Trace trace = trace(120);
    Rig.Pair pair = rig.pair("--pool-bytes", "128MiB");
    proven(trace, replay(trace, pair.a(), pair.b()));
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: the same block asked for, fetched and published by several requests at once.
  @Test
  void hitsAreRightUnderConcurrency() {
    Trace trace = trace(120);
    Rig.Pair pair = rig.pair("--pool-bytes", "128MiB");
    JsonObject report = replay(trace, pair.a(), pair.b(), "--concurrency", "6");
    assertThat(report.get("mismatched_bytes").getAsLong()).isZero();
    assertThat(report.get("hits").getAsLong() + report.get("misses").getAsLong())
        .isEqualTo(trace.blocks());
    assertThat(report.get("missing_receipts").getAsLong()).isZero();
    pair.a().awaitQuiet();
    pair.b().awaitQuiet();
  }

  // Guard: an address that only this host can reach, published to another one.
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void twoHostsGiveTheSameResult(boolean ipv6) {
    assumeTrue(Namespaces.obstacle().isEmpty(), Namespaces.obstacle());
    Namespaces hosts = rig.keep(Namespaces.create());
    String hostA = ipv6 ? hosts.ipv6("a") : hosts.ipv4("a");
    String hostB = ipv6 ? hosts.ipv6("b") : hosts.ipv4("b");
    String portA = "7401";
    String portB = "7402";
    ManagerProcess a =
        rig.launchIn(
            hosts.on("a"), "a", "--host", hostA, "--port", portA, "--peers", at(hostB, portB));
    ManagerProcess b =
        rig.launchIn(
            hosts.on("b"), "b", "--host", hostB, "--port", portB, "--peers", at(hostA, portA));
    a.awaitReady();
    b.awaitReady();
    a.awaitPeer(b);
    b.awaitPeer(a);
    Trace trace = trace(60);
    proven(trace, replay(trace, a, b));
    assertThat(a.awaitQuiet().number("receipts_destination.LOCAL_QUIESCED")).isPositive();
    assertThat(b.awaitQuiet().number("receipts_destination.LOCAL_QUIESCED")).isPositive();
    assertThat(a.terminate(Duration.ofSeconds(15))).isZero();
    assertThat(b.terminate(Duration.ofSeconds(15))).isZero();
  }

  private static String at(String host, String port) {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  private Trace trace(int requests) {
    System.out.println("seed " + seed);
    return Trace.conversations(seed, requests, 8);
  }

  private JsonObject replay(Trace trace, ManagerProcess a, ManagerProcess b, String... more) {
    Path file = trace.writeTo(rig.directory().resolve("trace.jsonl"));
    String[] arguments = new String[7 + more.length];
    arguments[0] = "replay";
    arguments[1] = file.toString();
    arguments[2] = "--managers";
    arguments[3] = a.socket() + "," + b.socket();
    arguments[4] = "--block-bytes";
    arguments[5] = Integer.toString(BLOCK_BYTES);
    arguments[6] = "--json";
    System.arraycopy(more, 0, arguments, 7, more.length);
    Command replay = rig.run(arguments).succeeded();
    return replay.json();
  }

  private static void proven(Trace trace, JsonObject report) {
    assertThat(report.get("requests").getAsLong()).isEqualTo(trace.requests().size());
    assertThat(report.get("blocks").getAsLong()).isEqualTo(trace.blocks());
    assertThat(report.get("hits").getAsLong()).isEqualTo(trace.idealHits());
    assertThat(report.get("hits").getAsLong() + report.get("misses").getAsLong())
        .isEqualTo(trace.blocks());
    assertThat(report.get("hit_ratio").getAsDouble())
        .isEqualTo(report.get("ideal_hit_ratio").getAsDouble());
    assertThat(report.get("published_blocks").getAsLong()).isEqualTo(trace.distinct());
    assertThat(report.get("verified_bytes").getAsLong()).isEqualTo(trace.idealHits() * BLOCK_BYTES);
    assertThat(report.get("mismatched_bytes").getAsLong()).isZero();
    assertThat(report.get("peer_blocks").getAsLong()).isPositive();
    assertThat(report.get("failed_operations").getAsLong()).isZero();
    assertThat(report.get("missing_receipts").getAsLong()).isZero();
    assertThat(report.get("quarantined_bytes").getAsLong()).isZero();
  }
}
