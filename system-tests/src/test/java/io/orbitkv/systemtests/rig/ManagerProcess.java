package io.orbitkv.systemtests.rig;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A Manager in a process of its own. Made by {@link Rig}, which kills it at the end of the test and
 * shows its log if the test failed.
 */
public final class ManagerProcess implements AutoCloseable {
  private static final Duration READY = Duration.ofSeconds(40);
  private static final Duration QUIET = Duration.ofSeconds(20);

  private final String name;
  private final Process process;
  private final Path out;
  private final Path log;
  private @Nullable JsonObject ready;
  private @Nullable ManagerClient observer;

  private ManagerProcess(String name, Process process, Path out, Path log) {
    this.name = name;
    this.process = process;
    this.out = out;
    this.log = log;
  }

  static ManagerProcess start(
      Path directory, String name, List<String> prefix, List<String> arguments) {
    Path out = directory.resolve(name + ".out");
    Path log = directory.resolve(name + ".log");
    try {
      Process process =
          Command.builder(prefix, arguments)
              .directory(directory.toFile())
              .redirectOutput(out.toFile())
              .redirectError(log.toFile())
              .start();
      return new ManagerProcess(name, process, out, log);
    } catch (IOException e) {
      throw new UncheckedIOException("Manager " + name + " was not started", e);
    }
  }

  /** Waits until it says that it serves. */
  public ManagerProcess awaitReady() {
    Await.until(
        "Manager " + name + " is ready",
        READY,
        () -> {
          if (!process.isAlive()) {
            throw new AssertionError(
                "Manager " + name + " ended with " + process.exitValue() + ": " + log());
          }
          return read(out).endsWith("\n");
        },
        this::log);
    ready = JsonParser.parseString(read(out)).getAsJsonObject();
    return this;
  }

  /** Where engines attach. */
  public Path socket() {
    return Path.of(said("socket"));
  }

  /** Where its control server listens, {@code host:port}. */
  public String control() {
    return said("control");
  }

  /** The port of its control server. */
  public int controlPort() {
    return address(control()).getPort();
  }

  /** Where its transport listens. */
  public InetSocketAddress data() {
    URI endpoint = URI.create(said("endpoint"));
    return address(endpoint.getRawAuthority());
  }

  /** Its Manager epoch. */
  public String epoch() {
    return said("epoch");
  }

  /** Its state now. */
  public Status status() {
    ManagerClient client = observer;
    if (client == null || !client.connected()) {
      client = ManagerClient.connect(socket(), ClientOptions.DEFAULTS);
      observer = client;
    }
    return Status.parse(client.status());
  }

  /** Attaches an engine to it; the caller closes that. */
  public Engine engine() {
    return Engine.attach(socket());
  }

  /** Waits until it holds nothing, owes no receipt and has nothing in quarantine. */
  public Status awaitQuiet() {
    return awaitQuiet(QUIET);
  }

  /** As above, with another deadline. */
  public Status awaitQuiet(Duration deadline) {
    Await.until(
        "Manager " + name + " holds nothing",
        deadline,
        () -> status().leftovers().isEmpty(),
        () -> status().leftovers().toString());
    return status();
  }

  /** Waits until the other one is a peer of this one, in its present incarnation. */
  public void awaitPeer(ManagerProcess other) {
    Await.until(
        "Manager " + name + " knows Manager " + other.name,
        QUIET,
        () -> status().hasPeer(other.epoch()),
        this::log);
  }

  /** What its process uses now. */
  public ProcessUse use() {
    return ProcessUse.of(process.pid(), Objects.requireNonNull(log.getParent()));
  }

  /** How many engine processes it watches: of those that have exited it has let go. */
  public long watched() {
    return ProcessUse.watched(process.pid());
  }

  /** What memory its process has now, without garbage. */
  public MemoryUse memory() {
    return MemoryUse.of(process.pid(), Objects.requireNonNull(log.getParent()));
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process runs. */
  public boolean alive() {
    return process.isAlive();
  }

  /** Sends SIGKILL and waits for the exit. */
  public void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  /** Sends SIGTERM and waits for the exit. */
  public int terminate(Duration deadline) {
    requestEnd();
    return awaitExit(deadline);
  }

  /** Sends SIGTERM. */
  public void requestEnd() {
    process.destroy();
  }

  /** Waits for the exit code. */
  public int awaitExit(Duration deadline) {
    try {
      if (!process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("Manager " + name + " did not end in " + deadline + ": " + log());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for Manager " + name, e);
    }
    return process.exitValue();
  }

  /** All that it wrote to its log. */
  public String log() {
    return read(log);
  }

  @Override
  public void close() {
    ManagerClient client = observer;
    kill();
    if (client != null) {
      client.close();
    }
  }

  @Override
  public String toString() {
    return "Manager " + name + " (pid " + process.pid() + ")";
  }

  private String said(String field) {
    JsonObject said = ready;
    if (said == null) {
      throw new IllegalStateException("Manager " + name + " was not waited for");
    }
    return said.get(field).getAsString();
  }

  private static InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    return new InetSocketAddress(
        text.substring(0, colon).replaceAll("[\\[\\]]", ""),
        Integer.parseInt(text.substring(colon + 1)));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
