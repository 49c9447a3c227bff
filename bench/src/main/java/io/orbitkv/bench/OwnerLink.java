package io.orbitkv.bench;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.Base64;

/** The requester's end of the control connection to an {@link OwnerServer}. Thread-safe. */
public final class OwnerLink implements AutoCloseable {
  static final int VERSION = 1;
  private static final int CONNECT_MILLIS = 10_000;

  private final InetSocketAddress at;
  private final JsonLines lines;
  private JsonObject opened = new JsonObject();

  private OwnerLink(InetSocketAddress at, JsonLines lines) {
    this.at = at;
    this.lines = lines;
  }

  /**
   * Connects, and has the owner open its engine and fill its pool.
   *
   * @param provider the name of the provider, the same at both ends
   * @param poolBytes of the owner's pool
   * @throws TransportException PEER_LOST if nobody listens there; what the owner says otherwise
   */
  public static OwnerLink connect(InetSocketAddress at, String provider, long poolBytes) {
    JsonLines lines;
    Socket socket = new Socket();
    try {
      socket.connect(at, CONNECT_MILLIS);
      lines = new JsonLines(socket);
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.PEER_LOST,
          "owner " + at + ": " + e.getMessage() + "; start 'orbitkv bench transfer --listen' there",
          e);
    }
    OwnerLink link = new OwnerLink(at, lines);
    JsonObject request = request("open");
    request.addProperty("version", VERSION);
    request.addProperty("provider", provider);
    request.addProperty("pool_bytes", poolBytes);
    link.opened = link.ask(request);
    return link;
  }

  /** The address of this host on the way to the owner. */
  public InetAddress localHost() {
    return lines.localAddress();
  }

  /** The owner's machine, in one line. */
  public String machine() {
    return text(opened, "machine");
  }

  /** The owner's process, if it runs on this host. */
  public long pid() {
    return number(opened, "pid");
  }

  URI endpoint() {
    return URI.create(text(opened, "endpoint"));
  }

  Epoch epoch() {
    return Epoch.parse(text(opened, "epoch"));
  }

  byte[] peerBytes() {
    return Base64.getDecoder().decode(text(opened, "peer_bytes"));
  }

  /** Takes a grant over the owner's whole pool. */
  byte[] grant(Epoch requester) {
    JsonObject request = request("grant");
    request.addProperty("requester", requester.toString());
    return Base64.getDecoder().decode(text(ask(request), "wire_form"));
  }

  /** The processor time of the owner's process, nanoseconds. */
  public long cpuNanos() {
    return number(ask(request("cpu")), "cpu_nanos");
  }

  /**
   * Has the owner start the serving end of the C baseline.
   *
   * @return its port
   */
  int startSocketLoop(long poolBytes) {
    JsonObject request = request("socket_loop");
    request.addProperty("pool_bytes", poolBytes);
    return (int) number(ask(request), "port");
  }

  /** The processor time of the baseline's serving process, nanoseconds. */
  long socketLoopCpuNanos() {
    return number(ask(request("socket_loop_cpu")), "cpu_nanos");
  }

  /**
   * Has the owner start the serving end of the Java baseline, over the same pool.
   *
   * @return its port
   */
  int startJavaLoop() {
    return (int) number(ask(request("java_loop")), "port");
  }

  InetSocketAddress address() {
    return at;
  }

  private static JsonObject request(String name) {
    JsonObject request = new JsonObject();
    request.addProperty("do", name);
    return request;
  }

  private synchronized JsonObject ask(JsonObject request) {
    JsonObject answer;
    try {
      lines.send(request);
      answer = lines.receive();
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.PEER_LOST, "owner " + at + ": " + e.getMessage() + "; look at its process", e);
    }
    if (answer == null) {
      throw new TransportException(
          FaultCode.PEER_LOST, "owner " + at + ": it has ended; look at what its process said");
    }
    if (answer.has("error")) {
      throw new TransportException(
          FaultCode.INTERNAL, "owner " + at + ": " + text(answer, "error"));
    }
    return answer;
  }

  private static String text(JsonObject answer, String name) {
    return field(answer, name).getAsString();
  }

  private static long number(JsonObject answer, String name) {
    return field(answer, name).getAsLong();
  }

  private static JsonElement field(JsonObject answer, String name) {
    JsonElement field = answer.get(name);
    if (field == null || !field.isJsonPrimitive()) {
      throw new TransportException(
          FaultCode.CORRUPT, "owner: its answer has no " + name + "; run the same version there");
    }
    return field;
  }

  /** Ends the session: the owner closes its engine. */
  @Override
  public void close() {
    try {
      lines.close();
    } catch (IOException e) {
      // The owner ends the session when the connection is gone, however it went.
    }
  }
}
