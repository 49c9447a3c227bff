package io.orbitkv.manager.membership;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;

/**
 * Where a control server is reached.
 *
 * @param host name or literal, IPv6 without brackets
 * @param port 1 to 65,535
 */
public record ControlAddress(String host, int port) {
  /**
   * Reads {@code host:port}, IPv6 in brackets.
   *
   * @throws TransportException INVALID if it is anything else
   */
  public static ControlAddress parse(String text) {
    try {
      URI uri = new URI("//" + text).parseServerAuthority();
      String host = uri.getHost();
      int port = uri.getPort();
      String path = uri.getPath();
      boolean bare =
          uri.getUserInfo() == null
              && uri.getQuery() == null
              && uri.getFragment() == null
              && (path == null || path.isEmpty());
      if (host != null && port > 0 && port <= 65_535 && bare) {
        boolean literal = host.startsWith("[");
        return new ControlAddress(literal ? host.substring(1, host.length() - 1) : host, port);
      }
    } catch (URISyntaxException e) {
      // Said below, in our words.
    }
    throw new TransportException(
        FaultCode.INVALID,
        "control address '"
            + text.replaceAll("\\p{Cntrl}", "?")
            + "' is not host:port with a port of 1 to 65535: write 10.0.0.7:7400 or"
            + " [fd00::7]:7400");
  }

  /** The address of a bound socket, as a literal. */
  public static ControlAddress of(InetSocketAddress bound) {
    String host =
        bound.isUnresolved() ? bound.getHostString() : bound.getAddress().getHostAddress();
    return new ControlAddress(host, bound.getPort());
  }

  /** {@code host:port}, IPv6 in brackets; {@link #parse} reads it. */
  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
