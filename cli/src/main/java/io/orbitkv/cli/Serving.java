package io.orbitkv.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.manager.Manager;
import io.orbitkv.manager.ShutdownReport;
import io.orbitkv.manager.config.ManagerConfiguration;
import io.orbitkv.manager.plugin.LoadedProvider;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jline.utils.Signals;
import org.jspecify.annotations.Nullable;

/**
 * A Manager from its start to the signal that ends it. The first SIGTERM or SIGINT begins the
 * shutdown in order; the second ends the process within {@value #CUT_SHORT_MILLIS} ms, with what is
 * given up; the third ends it at once.
 */
final class Serving {
  private static final List<String> FIELDS =
      List.of("socket", "control", "endpoint", "backend", "epoch");

  private static final long CUT_SHORT_MILLIS = 1_000;

  private final PrintWriter out;
  private final PrintWriter err;
  private final boolean json;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final AtomicInteger signals = new AtomicInteger();
  private final AtomicReference<@Nullable Manager> serving = new AtomicReference<>();

  Serving(PrintWriter out, PrintWriter err, boolean json) {
    this.out = out;
    this.err = err;
    this.json = json;
  }

  /**
   * Serves until a signal.
   *
   * @return the exit code: 0 if everything was drained and closed
   */
  int run(ManagerConfiguration configuration, LoadedProvider loaded, TransportProvider provider)
      throws InterruptedException {
    Signals.register("TERM", () -> signalled("SIGTERM"));
    Signals.register("INT", () -> signalled("SIGINT"));
    LoadedProvider.Use use = loaded.use();
    Manager manager;
    try {
      manager = Manager.start(configuration, provider);
    } catch (RuntimeException | Error e) {
      use.close();
      throw e;
    }
    serving.set(manager);
    out.println(ready(manager.describe()));
    out.flush();
    RehearsalAtStart rehearsal = RehearsalAtStart.begin(configuration, loaded);
    stop.await();
    rehearsal.cutShort();
    ShutdownReport report = manager.shutdown();
    rehearsal.awaitEnd();
    if (report.clean()) {
      use.close();
      return 0;
    }
    // The use stays: code that may still run must not be unloaded.
    report.failures().forEach(failure -> say("shutdown: " + failure));
    report.held().forEach(held -> say("shutdown: still held: " + held));
    if (!report.held().isEmpty()) {
      say(
          "shutdown: "
              + report.held().size()
              + " holds had no receipt within "
              + configuration.sourceCloseDeadline().toMillis()
              + " ms and end with this process; raise --source-close-deadline to wait longer");
    }
    return 1;
  }

  private void signalled(String name) {
    switch (signals.incrementAndGet()) {
      case 1 -> stop.countDown();
      case 2 -> cutShort("second " + name + ": the shutdown is cut short; given up: ");
      default -> Runtime.getRuntime().halt(1);
    }
  }

  private void cutShort(String what) {
    // What is held is asked of locks that a stuck provider may be in the middle of.
    Thread.ofPlatform().daemon().name("orbitkv-cut-short").start(() -> haltLater(what));
    say(what + givenUp());
    Runtime.getRuntime().halt(1);
  }

  private void haltLater(String what) {
    try {
      Thread.sleep(CUT_SHORT_MILLIS);
      // Nor may whoever reads standard error keep it alive.
      Thread line =
          Thread.ofPlatform()
              .daemon()
              .start(() -> say(what + "whatever is still held; its list could not be had in time"));
      line.join(CUT_SHORT_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(1);
  }

  private String givenUp() {
    Manager manager = serving.get();
    if (manager == null) {
      return "the start";
    }
    try {
      JsonObject status = JsonParser.parseString(manager.statusJson()).getAsJsonObject();
      List<JsonElement> holds = status.getAsJsonArray("holds").asList();
      return holds.isEmpty()
          ? "nothing, no memory was held"
          : holds.size()
              + " holds of memory, first of all "
              + holds.stream()
                  .limit(3)
                  .map(JsonElement::toString)
                  .collect(Collectors.joining(", "));
    } catch (RuntimeException e) {
      return "whatever is still held";
    }
  }

  private String ready(JsonObject description) {
    if (json) {
      JsonObject event = new JsonObject();
      event.addProperty("event", "ready");
      FIELDS.forEach(field -> event.add(field, description.get(field)));
      return event.toString();
    }
    StringBuilder line = new StringBuilder("ready");
    for (String field : FIELDS) {
      String value = description.get(field).getAsString();
      line.append(' ').append(field).append('=').append(value.isEmpty() ? "none" : value);
    }
    return line.toString();
  }

  private void say(String text) {
    err.println("orbitkv: " + text);
    err.flush();
  }
}
