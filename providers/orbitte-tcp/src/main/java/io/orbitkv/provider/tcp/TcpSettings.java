package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.OptionSpec;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The options, checked.
 *
 * @param listen where to listen; null: the Manager's host, any port
 * @param connections long-lived connections to one peer
 * @param windowBytes payload asked for and not yet received on one connection, bytes
 * @param requestBytes payload of one READ on the wire, bytes
 * @param congestion {@code auto}, {@code system}, or the kernel's name of an algorithm
 * @param receiveBuffer SO_RCVBUF of a requester's connection, bytes; 0: the kernel's autotuning
 * @param sendfile whether the source sends by reference where that is worthwhile
 * @param sendfileBytes bytes of the grants whose replies by reference are not vouched for, at most
 * @param sendfileLeast bytes of a piece from which it is worthwhile
 * @param checksum whether every reply is compared with the CRC32C that the source took of it
 */
record TcpSettings(
    @Nullable InetSocketAddress listen,
    int connections,
    long windowBytes,
    int requestBytes,
    String congestion,
    int receiveBuffer,
    boolean sendfile,
    long sendfileBytes,
    int sendfileLeast,
    boolean checksum) {
  private static final String PREFIX = "orbitte-tcp-";
  private static final String LISTEN = PREFIX + "listen";
  private static final String CONNECTIONS = PREFIX + "connections";
  private static final String WINDOW = PREFIX + "window-bytes";
  private static final String REQUEST = PREFIX + "request-bytes";
  private static final String CONGESTION = PREFIX + "congestion";
  private static final String RECEIVE_BUFFER = PREFIX + "receive-buffer";
  private static final String SOURCE = PREFIX + "source";
  private static final String SENDFILE_BYTES = PREFIX + "sendfile-bytes";
  private static final String SENDFILE_LEAST = PREFIX + "sendfile-least";
  private static final String CHECKSUM = PREFIX + "checksum";

  static final List<OptionSpec> SPECS =
      List.of(
          new OptionSpec(
              LISTEN,
              "IP:PORT",
              "",
              "where peers connect; empty: the Manager's host and a free port"),
          new OptionSpec(CONNECTIONS, "N", "2", "connections kept to each peer, 1 to 64"),
          new OptionSpec(
              WINDOW,
              "BYTES",
              "8388608",
              "payload in flight on one connection, bytes; two requests always are"),
          new OptionSpec(
              REQUEST,
              "BYTES",
              "2097152",
              "payload of one request, bytes, 4096 to 8388608; larger reads are split"),
          new OptionSpec(
              CONGESTION,
              "auto|system|NAME",
              "auto",
              "TCP congestion control: auto (on a short path cubic or reno, not bbr), system, or a"
                  + " name"),
          new OptionSpec(
              RECEIVE_BUFFER,
              "BYTES",
              "0",
              "receive buffer of a connection to a peer, bytes; 0: the kernel decides"),
          new OptionSpec(
              SOURCE,
              "copy|sendfile",
              "copy",
              "how a source sends; with sendfile only the peer's word ends its hold, and a lost peer"
                  + " keeps it"),
          new OptionSpec(
              SENDFILE_BYTES,
              "BYTES",
              "536870912",
              "with sendfile: bytes of the grants that wait for a peer's word, at most; beyond, the"
                  + " source copies"),
          new OptionSpec(
              SENDFILE_LEAST,
              "BYTES",
              "131072",
              "with sendfile: the shortest piece that is not copied, bytes, 1 to 8388608"),
          new OptionSpec(
              CHECKSUM,
              "off|crc32c",
              "off",
              "what this side asks of its peers: crc32c, each reply is sent with a checksum of the"
                  + " source's memory and compared before its outcome"));

  /**
   * Reads and checks the options; those that are absent have their default.
   *
   * @throws TransportException INVALID, naming the option, its value and what it must be
   */
  static TcpSettings parse(Map<String, String> given) {
    String listen = value(given, LISTEN).trim();
    String congestion = value(given, CONGESTION);
    if (!congestion.matches("[a-z0-9_-]{1,15}")) {
      throw invalid(CONGESTION, congestion, "auto, system or a kernel's name in lower case");
    }
    return new TcpSettings(
        listen.isEmpty() ? null : address(listen),
        (int) number(given, CONNECTIONS, 1, 64),
        number(given, WINDOW, 4_096, 1L << 30),
        (int) number(given, REQUEST, 4_096, Wire.MAX_PAYLOAD),
        congestion,
        (int) number(given, RECEIVE_BUFFER, 0, 1 << 30),
        sendfile(given),
        number(given, SENDFILE_BYTES, 0, 1L << 50),
        (int) number(given, SENDFILE_LEAST, 1, Wire.MAX_PAYLOAD),
        checksum(given));
  }

  private static boolean checksum(Map<String, String> given) {
    String checksum = value(given, CHECKSUM);
    return switch (checksum) {
      case "off" -> false;
      case "crc32c" -> true;
      default -> throw invalid(CHECKSUM, checksum, "off or crc32c");
    };
  }

  private static boolean sendfile(Map<String, String> given) {
    String source = value(given, SOURCE);
    return switch (source) {
      case "copy" -> false;
      case "sendfile" -> true;
      default -> throw invalid(SOURCE, source, "copy or sendfile");
    };
  }

  private static String value(Map<String, String> given, String name) {
    String value = given.get(name);
    if (value != null) {
      return value;
    }
    for (OptionSpec spec : SPECS) {
      if (spec.name().equals(name)) {
        return spec.defaultValue();
      }
    }
    throw new IllegalArgumentException("no option " + name);
  }

  private static InetSocketAddress address(String listen) {
    try {
      return TcpEndpoint.parse(listen);
    } catch (TransportException e) {
      throw new TransportException(
          FaultCode.INVALID, LISTEN + ": " + Objects.requireNonNull(e.getMessage()), e);
    }
  }

  private static long number(Map<String, String> given, String name, long least, long most) {
    String text = value(given, name);
    try {
      long number = Long.parseLong(text.trim());
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below, with the range.
    }
    throw invalid(name, text, "a whole number from " + least + " to " + most);
  }

  private static TransportException invalid(String name, String value, String wanted) {
    return new TransportException(
        FaultCode.INVALID, name + " '" + value + "' is not acceptable; it must be " + wanted);
  }
}
