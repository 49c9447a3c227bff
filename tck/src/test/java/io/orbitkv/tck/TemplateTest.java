package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.tck.template.TemplateProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The template of docs/writing-a-provider.md is a provider, and the page shows that very code. */
class TemplateTest {
  private static final Path DOC = Path.of("../docs/writing-a-provider.md");
  private static final Path SOURCES = Path.of("src/main/java/io/orbitkv/tck/template");
  private static final Pattern BLOCK =
      Pattern.compile("```java\\n(package .*?)```", Pattern.DOTALL);

  private static final long SEED = 0x7e57L;
  private static final int BYTES = 4 << 20;

  @Test
  void templatePassesTheKit() {
    TckReport report = TckRun.run(fixture());
    assertThat(report.rows(TckRow.Result.FAILED)).isEmpty();
    assertThat(report.count(TckRow.Result.PASSED)).isGreaterThan(55);
  }

  private static ProviderFixture fixture() {
    String none = "bytes that never leave the process can not be stopped on the way";
    return new ProviderFixture() {
      @Override
      public TransportProvider provider() {
        return new TemplateProvider();
      }

      @Override
      public Map<Behaviour, String> declined() {
        return EnumSet.of(Behaviour.STALL, Behaviour.CUT, Behaviour.SUCCESSOR, Behaviour.PACKAGE)
            .stream()
            .collect(Collectors.toMap(each -> each, _ -> none));
      }
    };
  }

  // Guard: the second catch of GatedTicket.outcomeOf. Without it neither ticket has an outcome.
  @Test
  void copyThatThrowsIsAFailureAndTheNextTicketIsRead() {
    try (EnginePair pair = EnginePair.open(fixture(), 8)) {
      KitEngine requester = pair.requester();
      Peer peer = pair.connect();
      RemoteRegion source = source(pair, peer);
      Region writable = requester.memory(BYTES).region(Permission.READ_WRITE);
      // What the region says is not so, as with memory that the kernel has taken back.
      Region broken =
          new Region(
              writable.id(),
              writable.fd(),
              writable.fdOffset(),
              writable.memory().asReadOnly(),
              writable.kind(),
              writable.permission(),
              writable.backing());
      Registration registration = requester.transport().register(broken);
      Ticket failing = requester.read(peer, EnginePair.whole(source, broken));
      assertThat(Await.outcome(failing))
          .isInstanceOfSatisfying(
              Outcome.Failed.class,
              failed -> assertThat(failed.code()).isEqualTo(FaultCode.INTERNAL));
      assertThatThrownBy(registration::close)
          .isInstanceOfSatisfying(
              TransportException.class,
              refused -> assertThat(refused.code()).isEqualTo(FaultCode.IN_USE));
      assertThat(requester.spend(failing)).isEqualTo(Evidence.LOCAL_QUIESCED);
      registration.close();
      assertReads(pair, peer, source);
    }
  }

  // Guard: the catch of TemplateTransport.work. Without it the second ticket has no outcome.
  @Test
  void callbackThatThrowsEndsNoWorker() {
    EnginePair pair = EnginePair.open(fixture(), 8);
    KitEngine requester = pair.requester();
    Peer peer = pair.connect();
    RemoteRegion source = source(pair, peer);
    Region target = requester.register(requester.memory(BYTES));
    Thread here = Thread.currentThread();
    AtomicReference<Thread> caller = new AtomicReference<>(here);
    Await.until(
        "a callback in the worker",
        () -> {
          Ticket ticket = requester.read(peer, EnginePair.whole(source, target));
          try {
            ticket.onSettled(
                _ -> {
                  caller.set(Thread.currentThread());
                  throw new IllegalArgumentException("of a callback");
                });
          } catch (IllegalArgumentException e) {
            // It had its outcome already.
          }
          assertThat(Await.outcome(ticket).completed()).isTrue();
          var _ = requester.spend(ticket);
          return caller.get() != here;
        });
    assertReads(pair, peer, source);
    assertThatThrownBy(requester::close)
        .as("what the callback threw is not kept quiet")
        .hasStackTraceContaining("of a callback");
    assertThat(requester.context().liveThreads()).isEmpty();
    pair.owner().close();
  }

  // Guard: the check of OpenWork.register.
  @Test
  void closedTransportRegistersNothing() {
    try (EnginePair pair = EnginePair.open(fixture(), 8)) {
      Region late = pair.requester().memory(BYTES).region(Permission.READ_WRITE);
      pair.requester().transport().close();
      assertThatThrownBy(() -> pair.requester().transport().register(late))
          .isInstanceOfSatisfying(
              TransportException.class,
              refused -> assertThat(refused.code()).isEqualTo(FaultCode.CLOSING));
    }
  }

  private static RemoteRegion source(EnginePair pair, Peer peer) {
    Region granted = pair.owner().register(pair.owner().memory(BYTES).fill(SEED));
    return peer.importRegion(pair.admit(granted).wireForm());
  }

  private static void assertReads(EnginePair pair, Peer peer, RemoteRegion source) {
    GuardedMemory memory = pair.requester().memory(BYTES);
    Region target = pair.requester().register(memory);
    Ticket ticket = pair.requester().read(peer, EnginePair.whole(source, target));
    assertThat(Await.outcome(ticket).completed()).isTrue();
    memory.assertHolds("destination", GuardedMemory.pattern(SEED, BYTES));
    var _ = pair.requester().spend(ticket);
  }

  @Test
  void pageShowsTheSourcesWordForWord() throws IOException {
    List<String> shown =
        BLOCK.matcher(Files.readString(DOC)).results().map(MatchResult::group).toList();
    Set<String> blocks =
        shown.stream()
            .map(block -> block.replaceFirst("```java\\n", "").replaceFirst("```$", ""))
            .collect(Collectors.toSet());
    try (Stream<Path> files = Files.list(SOURCES)) {
      for (Path file : files.filter(path -> !path.endsWith("package-info.java")).toList()) {
        // Mend it by copying the file into the page.
        assertThat(blocks).as("%s as a block of %s", file, DOC).contains(Files.readString(file));
      }
    }
    assertThat(blocks).hasSize(3);
  }
}
