package io.orbitkv.manager.config;

/**
 * Where something listens.
 *
 * @param host an IP literal without brackets, or a name
 * @param port 1 to 65535
 */
public record HostPort(String host, int port) {
  /**
   * Parses {@code HOST:PORT}; an IPv6 literal stands in brackets.
   *
   * @throws IllegalArgumentException saying the cause and the fix
   */
  public static HostPort parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon <= 0) {
      throw new IllegalArgumentException("is not HOST:PORT; write it as in 10.0.0.7:7600");
    }
    String host = text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = IpLiteral.text(IpLiteral.parse(host.substring(1, host.length() - 1)));
    } else if (host.contains(":") || host.contains("[") || host.contains("]")) {
      throw new IllegalArgumentException(
          "has an IPv6 address without brackets; write it as in [fd00::7]:7600");
    } else if (!host.matches("[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")) {
      throw new IllegalArgumentException("has a host that is no name; write it as in node7:7600");
    }
    return new HostPort(host, Numbers.port(text.substring(colon + 1), 1));
  }

  /** {@code HOST:PORT}, an IPv6 literal in brackets. */
  @Override
  public String toString() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}
