package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Everything that one test starts: a private directory, Managers, engines, proxies, commands. All
 * of it ends with the test, whatever happened; the Managers' logs are printed if it failed.
 */
public final class Rig implements BeforeEachCallback, AfterEachCallback {
  private static final Duration COMMAND = Duration.ofSeconds(60);

  private final Deque<AutoCloseable> things = new ArrayDeque<>();
  private final List<ManagerProcess> managers = new ArrayList<>();
  private Path directory = Path.of("");

  @Override
  public void beforeEach(ExtensionContext context) throws IOException {
    // Short, because Unix sockets are made in it.
    directory = Files.createTempDirectory(Path.of("/tmp"), "okv-").toAbsolutePath();
  }

  /** The test's own directory; goes with the test. */
  public Path directory() {
    return directory;
  }

  /** The registry directory that this rig's Managers share unless told otherwise. */
  public Path registry() {
    return directory.resolve("registry");
  }

  /**
   * Starts a Manager with a pool of 128 MiB and the shared registry, unless the options say
   * otherwise. Does not wait for it.
   *
   * @param options flags of {@code orbitkv manager}, with their values
   */
  public ManagerProcess launch(String name, String... options) {
    return launchIn(List.of(), name, options);
  }

  /** As {@link #launch}, behind a prefix such as {@code ip netns exec}. */
  public ManagerProcess launchIn(List<String> prefix, String name, String... options) {
    List<String> arguments = new ArrayList<>(List.of("manager", "--json"));
    Collections.addAll(arguments, options);
    defaultTo(arguments, "--socket", directory.resolve(name + ".sock").toString());
    defaultTo(arguments, "--pool-bytes", "128MiB");
    if (!arguments.contains("--peers")) {
      defaultTo(arguments, "--registry-directory", registry().toString());
    }
    ManagerProcess manager =
        keep(ManagerProcess.start(directory, name + "-" + managers.size(), prefix, arguments));
    managers.add(manager);
    return manager;
  }

  /** Starts a Manager and waits until it serves. */
  public ManagerProcess manager(String name, String... options) {
    return launch(name, options).awaitReady();
  }

  /** Two Managers that know each other by the registry of this host. */
  public Pair pair(String... options) {
    ManagerProcess a = launch("a", options);
    ManagerProcess b = launch("b", options);
    Pair pair = new Pair(a.awaitReady(), b.awaitReady());
    a.awaitPeer(b);
    b.awaitPeer(a);
    return pair;
  }

  /**
   * A owns; B reaches A's control server and A's transport through proxies only.
   *
   * @param options flags for both
   */
  public ProxiedPair proxied(String... options) {
    return proxied(List.of(options), List.of(options));
  }

  /** As above, with flags for each. */
  public ProxiedPair proxied(List<String> ofA, List<String> ofB) {
    return proxied(launch("a", ofA.toArray(String[]::new)).awaitReady(), "b", ofB);
  }

  /** A requester more of an owner that serves, behind proxies of its own. */
  public ProxiedPair proxied(ManagerProcess a, String nameOfB, List<String> ofB) {
    TcpProxy data = keep(TcpProxy.to(a.data()));
    TcpProxy control = keep(TcpProxy.unplugged().retarget(a, data));
    List<String> arguments = new ArrayList<>(ofB);
    arguments.addAll(List.of("--peers", "127.0.0.1:" + control.port()));
    ManagerProcess b = launch(nameOfB, arguments.toArray(String[]::new)).awaitReady();
    b.awaitPeer(a);
    return new ProxiedPair(a, b, data, control);
  }

  /** Runs a command to its end. */
  public Command run(String... arguments) {
    return runIn(Command.home(), arguments);
  }

  /** As {@link #run}, of another installation. */
  public Command runIn(Path home, String... arguments) {
    return Command.run(home, directory, COMMAND, List.of(arguments));
  }

  /** Starts an engine in a process of its own. */
  public EngineProcess engineProcess(Path socket, String task) {
    return keep(EngineProcess.start(directory, socket, task));
  }

  /** Closes something at the end of the test. */
  public <T extends AutoCloseable> T keep(T thing) {
    things.push(thing);
    return thing;
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    boolean failed = context.getExecutionException().isPresent();
    Exception first = null;
    for (AutoCloseable thing : things) {
      try {
        thing.close();
      } catch (Exception e) {
        first = first == null ? e : first;
      }
    }
    if (failed) {
      for (ManagerProcess manager : managers) {
        System.out.println("---- log of " + manager + " in " + context.getDisplayName());
        System.out.println(manager.log());
      }
    }
    things.clear();
    managers.clear();
    deleteAll(directory);
    if (first != null) {
      throw first;
    }
  }

  /**
   * Two Managers.
   *
   * @param a the first
   * @param b the second
   */
  public record Pair(ManagerProcess a, ManagerProcess b) {}

  /**
   * Two Managers with proxies between them.
   *
   * @param a the owner
   * @param b the requester
   * @param data in front of A's transport
   * @param control in front of A's control server
   */
  public record ProxiedPair(ManagerProcess a, ManagerProcess b, TcpProxy data, TcpProxy control) {}

  private static void defaultTo(List<String> arguments, String flag, String value) {
    if (!arguments.contains(flag)) {
      arguments.add(flag);
      arguments.add(value);
    }
  }

  private static void deleteAll(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
