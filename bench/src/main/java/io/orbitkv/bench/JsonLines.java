package io.orbitkv.bench;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** One JSON object a line over a socket: how owner and requester speak. Used by one thread. */
final class JsonLines implements AutoCloseable {
  private static final int MAX_LINE_BYTES = 1 << 20;

  private final Socket socket;
  private final InputStream in;

  /** Takes the socket over. */
  JsonLines(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
  }

  /** This end's address. */
  InetAddress localAddress() {
    return socket.getLocalAddress();
  }

  /** Sends one. */
  void send(JsonObject message) throws IOException {
    socket.getOutputStream().write((message + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Waits for one; null at the end of the stream.
   *
   * @throws TransportException CORRUPT if a line is no JSON object, or longer than 1 MiB
   */
  @Nullable JsonObject receive() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        return null;
      }
      if (line.size() == MAX_LINE_BYTES) {
        throw new TransportException(
            FaultCode.CORRUPT, "bench: a line of more than " + MAX_LINE_BYTES + " bytes came");
      }
      line.write(next);
    }
    try {
      if (JsonParser.parseString(line.toString(StandardCharsets.UTF_8))
          instanceof JsonObject object) {
        return object;
      }
    } catch (JsonParseException e) {
      // Told below.
    }
    throw new TransportException(
        FaultCode.CORRUPT, "bench: what came is no JSON object; is the other end orbitkv bench?");
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
