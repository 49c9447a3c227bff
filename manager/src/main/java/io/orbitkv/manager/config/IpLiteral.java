package io.orbitkv.manager.config;

import com.google.common.net.InetAddresses;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Reads IP addresses that are written as such; names are refused, never silently resolved. */
final class IpLiteral {
  private IpLiteral() {}

  /**
   * Parses an address.
   *
   * @throws IllegalArgumentException for a name, naming the addresses that it has
   */
  static InetAddress parse(String text) {
    if (InetAddresses.isInetAddress(text)) {
      return InetAddresses.forString(text);
    }
    if (text.matches("[A-Za-z0-9._-]*[A-Za-z][A-Za-z0-9._-]*")) {
      throw new IllegalArgumentException(nameFault(text));
    }
    throw new IllegalArgumentException("is not an IP address; write one as in 10.0.0.7 or fd00::7");
  }

  /** As {@link #parse}; IPv6 may stand in brackets, as it does before a port. */
  static InetAddress parseBracketed(String text) {
    boolean bracketed = text.startsWith("[") && text.endsWith("]") && text.contains(":");
    return parse(bracketed ? text.substring(1, text.length() - 1) : text);
  }

  /** The one text of an address: RFC 5952 for IPv6. */
  static String text(InetAddress address) {
    return InetAddresses.toAddrString(address);
  }

  private static String nameFault(String name) {
    try {
      InetAddress[] found = InetAddress.getAllByName(name);
      String list = Arrays.stream(found).map(IpLiteral::text).collect(Collectors.joining(", "));
      return "is a name and not an IP address, and peers need one address; give one of those that"
          + " it has here: "
          + list;
    } catch (UnknownHostException e) {
      return "is a name and not an IP address, and it does not resolve here;"
          + " write an address of this host";
    }
  }
}
