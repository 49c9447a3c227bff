package io.orbitkv.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.systemtests.rig.Command;
import io.orbitkv.systemtests.rig.ManagerProcess;
import io.orbitkv.systemtests.rig.Rig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Wrong input ends with one line on stderr, an exit code that is not 0, and nothing half done. */
class BadInputTest {
  @RegisterExtension final Rig rig = new Rig();

  // Guard: ProviderCatalog.select; no other backend may be started instead.
  @Test
  void unknownBackendNamesThoseThatExist() {
    refuses(manager("--peer-transfer-backend", "nowhere"), "nowhere", "orbitte-tcp");
  }

  // Guard: BB-31, a broken plugin that claims the name asked for is told with its reason.
  @Test
  void brokenPluginIsNamedWithItsPath() throws IOException {
    Path plugins = rig.directory().resolve("plugins");
    Path plugin = plugins.resolve("brokenone");
    Files.createDirectories(plugin.resolve("lib"));
    Files.writeString(plugin.resolve("lib/brokenone.jar"), "this is no jar");
    Files.writeString(
        plugin.resolve("plugin.properties"), "plugin.id=brokenone\nplugin.version=1.0.0\n");
    String folder = plugins.toString();
    refuses(
        manager("--plugin-dir", folder, "--peer-transfer-backend", "brokenone"),
        "brokenone",
        folder,
        "orbitte-tcp");
    // The good ones still load beside it.
    Command providers = rig.run("providers", "--plugin-dir", folder);
    assertThat(providers.out()).contains("orbitte-tcp").contains("brokenone");
  }

  // Guard: BB-24 and BB-26, addresses that can not be had or reached.
  @Test
  void addressesThatDoNotWorkAreRefused() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      String port = Integer.toString(taken.getLocalPort());
      refuses(manager("--port", port), port);
      refuses(manager("--orbitte-tcp-listen", "127.0.0.1:" + port), port);
    }
    refuses(manager("--host", "0.0.0.0"), "host", "0.0.0.0", "--advertise");
    refuses(manager("--host", "no.such.host.invalid"), "host", "no.such.host.invalid");
    refuses(manager("--peers", "127.0.0.1"), "peers", "127.0.0.1");
  }

  // Guard: the checks of the path before a listener is made, and of who listens there already.
  @Test
  void socketsThatDoNotWorkAreRefused() throws IOException {
    String longPath = "/tmp/" + "x".repeat(120) + ".sock";
    refuses(rig.run("manager", "--socket", longPath), "107", "socket");
    Path file = Files.writeString(rig.directory().resolve("file.sock"), "precious");
    refuses(manager("--socket", file.toString()), file.toString());
    assertThat(file).hasContent("precious");

    ManagerProcess serving = rig.manager("a");
    String socket = serving.socket().toString();
    refuses(manager("--socket", socket), socket);
    assertThat(serving.status().leftovers()).isEmpty();
  }

  // Guard: ManagerClient.connect telling what is wrong with what it found behind the path.
  @Test
  void clientSaysWhatIsBehindTheSocket() throws IOException {
    String nothing = rig.directory().resolve("nothing.sock").toString();
    refuses(rig.run("get", "key", "--socket", nothing), nothing);
    Path path = rig.directory().resolve("other.sock");
    try (ServerSocketChannel other = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      other.bind(UnixDomainSocketAddress.of(path));
      Thread.ofPlatform().daemon().start(() -> answerWithNonsense(other));
      refuses(rig.run("get", "key", "--socket", path.toString()), path.toString());
    }
    // Its listener is gone, its file is not.
    assertThat(path).exists();
    refuses(rig.run("stat", "--socket", path.toString()), path.toString());
  }

  // Guard: Pool.reserve refusing what can never fit, and PutCommand what is no block at all.
  @Test
  void blocksThatCanNotBeAreRefused() throws IOException {
    ManagerProcess a = rig.manager("a", "--pool-bytes", "1MiB");
    String socket = a.socket().toString();
    Path large = Files.write(rig.directory().resolve("large"), new byte[(1 << 20) + 1]);
    refuses(rig.run("put", "key", large.toString(), "--socket", socket), "pool");
    Path empty = Files.createFile(rig.directory().resolve("empty"));
    refuses(rig.run("put", "key", empty.toString(), "--socket", socket), "empty");
    assertThat(a.awaitQuiet().number("catalog.blocks")).isZero();
    assertThat(a.status().number("pool.free_bytes")).isEqualTo(1 << 20);
  }

  // Guard: the whole trace is checked before its first request.
  @Test
  void badTraceLineIsNamedBeforeAnythingIsDone() throws IOException {
    ManagerProcess a = rig.manager("a");
    Path trace = rig.directory().resolve("bad.jsonl");
    String good =
        "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [1]}";
    Files.write(trace, List.of(good, good, good.replace("[1]", "[1, -2]")));
    refuses(
        rig.run("replay", trace.toString(), "--managers", a.socket().toString()),
        trace + ":3",
        "hash_ids");
    assertThat(a.status().number("catalog.blocks")).isZero();
    assertThat(a.status().number("reads.missed_blocks")).isZero();
  }

  private Command manager(String... options) {
    Stream<String> first =
        Stream.of(
            "manager",
            "--pool-bytes",
            "1MiB",
            "--registry-directory",
            rig.directory().resolve("registry-of-refused").toString());
    Stream<String> socket =
        List.of(options).contains("--socket")
            ? Stream.empty()
            : Stream.of("--socket", rig.directory().resolve("refused.sock").toString());
    return rig.run(
        Stream.of(first, socket, Stream.of(options))
            .flatMap(words -> words)
            .toArray(String[]::new));
  }

  private void refuses(Command command, String... named) {
    List<String> said = command.err().lines().filter(line -> line.startsWith("orbitkv: ")).toList();
    assertThat(command.exit()).describedAs(command.toString()).isIn(1, 2);
    assertThat(said).describedAs(command.toString()).hasSize(1);
    assertThat(said.getFirst()).contains(named);
    assertThat(command.err()).doesNotContain("\tat ").doesNotContain("Exception");
    assertThat(command.out()).describedAs(command.toString()).isEmpty();
    // Nothing of it is left for others to find.
    assertThat(rig.directory().resolve("refused.sock")).doesNotExist();
    Path registry = rig.directory().resolve("registry-of-refused");
    if (Files.exists(registry)) {
      assertThat(registry).isEmptyDirectory();
    }
  }

  private static void answerWithNonsense(ServerSocketChannel listener) {
    try {
      while (true) {
        try (var session = listener.accept()) {
          session.write(
              java.nio.ByteBuffer.wrap(
                  "220 mail.example ESMTP\r\n"
                      .getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
        }
      }
    } catch (IOException e) {
      // Closed.
    }
  }
}
