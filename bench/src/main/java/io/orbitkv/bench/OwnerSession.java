package io.orbitkv.bench;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.TransportProvider;
import java.io.IOException;
import java.net.Socket;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What one requester asks of the owner. Used by one thread. */
final class OwnerSession implements AutoCloseable {
  private final TransportProvider provider;
  private final Map<String, String> options;
  private final JsonLines lines;
  private @Nullable BenchEngine engine;
  private @Nullable SocketLoopServer socketLoop;
  private @Nullable JavaLoopServer javaLoop;

  OwnerSession(TransportProvider provider, Map<String, String> options, Socket socket)
      throws IOException {
    this.provider = provider;
    this.options = options;
    lines = new JsonLines(socket);
  }

  /** Answers until the requester leaves. */
  void serve() throws IOException {
    for (JsonObject request = lines.receive(); request != null; request = lines.receive()) {
      JsonObject answer = new JsonObject();
      try {
        answer(request, answer);
      } catch (RuntimeException e) {
        String message = e.getMessage();
        answer = new JsonObject();
        answer.addProperty(
            "error", e instanceof TransportException && message != null ? message : e.toString());
      }
      lines.send(answer);
    }
  }

  private void answer(JsonObject request, JsonObject answer) {
    switch (field(request, "do").getAsString()) {
      case "open" -> open(request, answer);
      case "grant" -> {
        Epoch requester = Epoch.parse(field(request, "requester").getAsString());
        byte[] wireForm = opened().admit(requester).wireForm();
        answer.addProperty("wire_form", Base64.getEncoder().encodeToString(wireForm));
      }
      case "cpu" -> answer.addProperty("cpu_nanos", ProcessCpu.ownNanos());
      case "socket_loop" -> {
        SocketLoopServer server =
            SocketLoopServer.start(lines.localAddress(), field(request, "pool_bytes").getAsLong());
        socketLoop = server;
        answer.addProperty("port", server.port());
      }
      case "java_loop" -> {
        JavaLoopServer server =
            JavaLoopServer.start(lines.localAddress(), opened().pool().segment());
        javaLoop = server;
        answer.addProperty("port", server.port());
      }
      case "socket_loop_cpu" -> {
        SocketLoopServer server = socketLoop;
        answer.addProperty("cpu_nanos", server == null ? 0 : server.cpuNanos());
      }
      default ->
          throw new TransportException(
              FaultCode.UNSUPPORTED, request + " is not known here; run the same version at both");
    }
  }

  private void open(JsonObject request, JsonObject answer) {
    int version = field(request, "version").getAsInt();
    String wanted = field(request, "provider").getAsString();
    if (version != OwnerLink.VERSION || !wanted.equals(provider.name())) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "asked for provider %s, version %d, and this is %s, version %d; give both ends the same"
              .formatted(wanted, version, provider.name(), OwnerLink.VERSION));
    }
    if (engine != null) {
      throw new TransportException(FaultCode.INVALID, "the session is open already");
    }
    BenchEngine opening =
        BenchEngine.open(
            provider,
            options,
            lines.localAddress().getHostAddress(),
            field(request, "pool_bytes").getAsLong());
    engine = opening;
    Pattern.fill(opening.pool().segment());
    answer.addProperty("endpoint", opening.transport().endpoint().toString());
    answer.addProperty("epoch", opening.transport().epoch().toString());
    answer.addProperty(
        "peer_bytes", Base64.getEncoder().encodeToString(opening.transport().peerBytes()));
    answer.addProperty("pid", ProcessHandle.current().pid());
    answer.addProperty("machine", Machine.line(lines.localAddress()));
  }

  private BenchEngine opened() {
    BenchEngine open = engine;
    if (open == null) {
      throw new TransportException(FaultCode.INVALID, "the session is not open yet");
    }
    return open;
  }

  private static JsonElement field(JsonObject request, String name) {
    JsonElement field = request.get(name);
    if (field == null || !field.isJsonPrimitive()) {
      throw new TransportException(FaultCode.INVALID, "a request without " + name);
    }
    return field;
  }

  @Override
  public void close() throws IOException {
    try (lines) {
      if (socketLoop != null) {
        socketLoop.close();
      }
      if (javaLoop != null) {
        javaLoop.close();
      }
      if (engine != null) {
        engine.close();
      }
    }
  }
}
