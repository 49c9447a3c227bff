package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SocketDiscoveryTest {
  @TempDir private Path directory = Path.of("");

  private ServerSocketChannel listen(String name) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(directory.resolve(name)));
    return server;
  }

  @Test
  void takesTheOnlyLiveSocketAndNoStaleOne() throws Exception {
    listen("orbitkv-127.0.0.1-1.sock").close();
    Files.createFile(directory.resolve("orbitkv-127.0.0.1-2.sock"));
    try (ServerSocketChannel other = listen("something-else.sock");
        ServerSocketChannel live = listen("orbitkv-127.0.0.1-3.sock")) {
      assertThat(other.isOpen() && live.isOpen()).isTrue();

      assertThat(SocketDiscovery.only(directory))
          .isEqualTo(directory.resolve("orbitkv-127.0.0.1-3.sock"));
    }
  }

  @Test
  void severalAreNamed() throws Exception {
    try (ServerSocketChannel b = listen("orbitkv-b.sock");
        ServerSocketChannel a = listen("orbitkv-a.sock")) {
      assertThat(a.isOpen() && b.isOpen()).isTrue();

      assertThat(SocketDiscovery.all(directory))
          .containsExactly(
              directory.resolve("orbitkv-a.sock"), directory.resolve("orbitkv-b.sock"));
      assertThatThrownBy(() -> SocketDiscovery.only(directory))
          .isInstanceOf(CommandException.class)
          .hasMessageContaining("orbitkv-a.sock, ")
          .hasMessageContaining("orbitkv-b.sock); pick one with --socket PATH");
    }
  }

  @Test
  void noneIsSaidWithTheFix() {
    assertThatThrownBy(() -> SocketDiscovery.only(directory))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining(directory.toString())
        .hasMessageContaining("start one with 'orbitkv manager'");
  }
}
