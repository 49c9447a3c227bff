package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.TransportException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A Manager whose descriptors run out while it greets a client, at each of them in turn. */
@Timeout(180)
final class FewDescriptorsTest {
  private static final int MOST = 16;

  // Guard: Sessions.makeRing giving the member back also if EventFd.create fails. Without it the
  // instance, its memory and two descriptors stay for ever.
  @Test
  void aSessionThatFailsForWantOfOneLeavesNothingOpen(@TempDir Path directory) throws Exception {
    Path socket = directory.resolve("m.sock");
    Process server = FewDescriptorsMain.start(socket);
    try (BufferedReader said = server.inputReader(StandardCharsets.UTF_8);
        PrintWriter tell = new PrintWriter(server.outputWriter(StandardCharsets.UTF_8), true)) {
      assertThat(said.readLine()).isEqualTo("ready");
      List<String> refusals = new ArrayList<>();
      greet(socket, tell, said, new ArrayList<>()); // loads classes, and opens their files
      List<String> before = open(tell, said);
      greet(socket, tell, said, refusals);
      awaitNoMore(before, tell, said);
      assertThat(refusals).anyMatch(text -> text.contains("can not make a ring"));
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  private static void greet(
      Path socket, PrintWriter tell, BufferedReader said, List<String> refusals)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    for (int left = 0; left <= MOST; left++) {
      tell.println(left);
      assertThat(said.readLine()).isEqualTo("limited");
      CompletableFuture<ManagerClient> client =
          CompletableFuture.supplyAsync(() -> connect(socket), Thread::startVirtualThread);
      try {
        client.get(1, TimeUnit.SECONDS).close();
      } catch (TimeoutException _) {
        // It can not even be accepted before there is a descriptor.
        var _ = open(tell, said);
        client.get(20, TimeUnit.SECONDS).close();
      } catch (ExecutionException e) {
        assertThat(e.getCause()).isInstanceOf(TransportException.class);
        refusals.add(e.getCause().getMessage());
      }
    }
  }

  private static ManagerClient connect(Path socket) {
    return ManagerClient.connect(socket, ClientOptions.DEFAULTS.withTimeout(Channel.LIMIT));
  }

  private static void awaitNoMore(List<String> before, PrintWriter tell, BufferedReader said) {
    List<String> after = new ArrayList<>();
    try {
      Channel.await(
          "nothing more is open",
          () -> {
            after.clear();
            after.addAll(open(tell, said));
            return after.size() <= before.size();
          });
    } catch (AssertionError e) {
      before.forEach(after::remove);
      throw new AssertionError("still open: " + after, e);
    }
  }

  /** Lifts the limit, and tells what is open. */
  private static List<String> open(PrintWriter tell, BufferedReader said) {
    try {
      tell.println("free");
      String line = Objects.requireNonNull(said.readLine(), "the server has ended");
      return List.of(line.split(" ", -1));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
