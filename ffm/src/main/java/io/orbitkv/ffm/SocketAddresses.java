package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/** Socket addresses of the internet as the kernel lays them out: linux/in.h, linux/in6.h. */
final class SocketAddresses {
  private static final ValueLayout.OfShort PORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int PORT_AT = 2;
  private static final int V4_AT = 4;
  private static final int V4_BYTES = 16;
  private static final int V6_AT = 8;
  private static final int V6_SCOPE_AT = 24;
  private static final int V6_BYTES = 28;

  private SocketAddresses() {}

  static int family(InetSocketAddress address) {
    return resolved(address) instanceof Inet6Address ? SocketCalls.AF_INET6 : SocketCalls.AF_INET;
  }

  static MemorySegment encode(InetSocketAddress address, Arena arena) {
    InetAddress host = resolved(address);
    boolean six = host instanceof Inet6Address;
    MemorySegment encoded = arena.allocate(six ? V6_BYTES : V4_BYTES, 8);
    encoded.set(JAVA_SHORT, 0, (short) family(address));
    encoded.set(PORT, PORT_AT, (short) address.getPort());
    MemorySegment.copy(host.getAddress(), 0, encoded, JAVA_BYTE, six ? V6_AT : V4_AT, six ? 16 : 4);
    if (host instanceof Inet6Address v6) {
      encoded.set(JAVA_INT, V6_SCOPE_AT, v6.getScopeId());
    }
    return encoded;
  }

  static InetSocketAddress decode(MemorySegment encoded) {
    int port = Short.toUnsignedInt(encoded.get(PORT, PORT_AT));
    try {
      if (encoded.get(JAVA_SHORT, 0) == SocketCalls.AF_INET) {
        byte[] host = encoded.asSlice(V4_AT, 4).toArray(JAVA_BYTE);
        return new InetSocketAddress(InetAddress.getByAddress(host), port);
      }
      byte[] host = encoded.asSlice(V6_AT, 16).toArray(JAVA_BYTE);
      int scope = encoded.get(JAVA_INT, V6_SCOPE_AT);
      InetAddress address =
          scope == 0
              ? InetAddress.getByAddress(host)
              : Inet6Address.getByAddress(null, host, scope);
      return new InetSocketAddress(address, port);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("the kernel's address has a wrong length", e);
    }
  }

  static InetSocketAddress local(Fd fd) {
    return name(fd, true);
  }

  static InetSocketAddress remote(Fd fd) {
    return name(fd, false);
  }

  private static InetSocketAddress name(Fd fd, boolean local) {
    int number = fd.enter();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = arena.allocate(V6_BYTES, 8);
      MemorySegment length = arena.allocateFrom(JAVA_INT, V6_BYTES);
      int result =
          local
              ? SocketCalls.getsockname(number, address, length)
              : SocketCalls.getpeername(number, address, length);
      if (result < 0) {
        throw new NativeException((local ? "getsockname(" : "getpeername(") + fd + ")", -result);
      }
      return decode(address);
    } finally {
      fd.leave();
    }
  }

  private static InetAddress resolved(InetSocketAddress address) {
    InetAddress host = address.getAddress();
    if (host == null) {
      throw new IllegalArgumentException(
          "host " + address.getHostString() + " has no address; check the name or the resolver");
    }
    return host;
  }
}
