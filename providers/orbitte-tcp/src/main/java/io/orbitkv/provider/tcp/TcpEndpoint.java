package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;

/** The forms of an address: {@code IP:port} and {@code orbitte+tcp://IP:port}, IPv6 in brackets. */
final class TcpEndpoint {
  static final String SCHEME = "orbitte+tcp";

  private TcpEndpoint() {}

  /** The endpoint of a bound address. */
  static URI uri(InetSocketAddress address) {
    return URI.create(SCHEME + "://" + text(address));
  }

  /** {@code IP:port}, without a zone. */
  static String text(InetSocketAddress address) {
    InetAddress ip = address.getAddress();
    String literal = ip.getHostAddress();
    int zone = literal.indexOf('%');
    String plain = zone < 0 ? literal : literal.substring(0, zone);
    if (ip instanceof Inet6Address) {
      // The short form that people write and other parts of the system print.
      plain = plain.replaceFirst("(^|:)0(:0)+(:|$)", "::");
    }
    return (ip instanceof Inet6Address ? "[" + plain + "]" : plain) + ":" + address.getPort();
  }

  /**
   * Reads a peer's endpoint.
   *
   * @throws TransportException INVALID unless it is {@code orbitte+tcp://IP:port} with a port
   */
  static InetSocketAddress parse(URI endpoint) {
    String authority = endpoint.getRawAuthority();
    String path = endpoint.getRawPath();
    if (!SCHEME.equals(endpoint.getScheme())
        || authority == null
        || (path != null && !path.isEmpty())
        || endpoint.getRawQuery() != null
        || endpoint.getRawFragment() != null) {
      throw invalid(endpoint.toString(), "is not " + SCHEME + "://IP:port");
    }
    InetSocketAddress address = parse(authority);
    if (address.getPort() == 0) {
      throw invalid(endpoint.toString(), "has port 0; give the port that was bound");
    }
    return address;
  }

  /**
   * Reads {@code IP:port}; never asks a name service.
   *
   * @throws TransportException INVALID for anything else
   */
  static InetSocketAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      throw invalid(text, "has no port; write IP:port, IPv6 as [IP]:port");
    }
    int port;
    try {
      port = Integer.parseInt(text, colon + 1, text.length(), 10);
    } catch (NumberFormatException e) {
      port = -1;
    }
    if (port < 0 || port > 65_535 || text.charAt(colon + 1) == '+') {
      throw invalid(text, "has no port from 0 to 65535 behind the last colon");
    }
    return new InetSocketAddress(ip(text.substring(0, colon)), port);
  }

  /** Reads an IP literal, IPv6 with or without brackets. */
  static InetAddress ip(String text) {
    boolean bracketed = text.length() > 2 && text.startsWith("[") && text.endsWith("]");
    String literal = bracketed ? text.substring(1, text.length() - 1) : text;
    try {
      if (bracketed == (literal.indexOf(':') >= 0) || !text.contains("[")) {
        return InetAddress.ofLiteral(literal);
      }
    } catch (IllegalArgumentException e) {
      throw new TransportException(
          FaultCode.INVALID, "address '" + text + "' is not an IP literal; names are not used", e);
    }
    throw invalid(text, "is not an IP literal; only IPv6 goes in brackets");
  }

  private static TransportException invalid(String text, String problem) {
    return new TransportException(FaultCode.INVALID, "address '" + text + "' " + problem);
  }
}
