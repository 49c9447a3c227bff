package io.orbitkv.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a figure depends on, in one line. */
public final class Machine {
  private static final Path CONGESTION = Path.of("/proc/sys/net/ipv4/tcp_congestion_control");
  private static final Path MODEL = Path.of("/proc/cpuinfo");

  private Machine() {}

  /** This machine, as peers see it at one of its addresses. */
  public static String line(InetAddress address) {
    return line()
        + ", MTU %s at %s, system's congestion control %s"
            .formatted(mtu(address), address.getHostAddress(), congestion());
  }

  /** This machine without its network: kernel, JDK, cores. */
  public static String line() {
    return "kernel %s, JDK %s, %d cores (%s)"
        .formatted(
            System.getProperty("os.version"),
            Runtime.version(),
            Runtime.getRuntime().availableProcessors(),
            processor());
  }

  /** The system's congestion control; empty if it can not be read. */
  static String congestion() {
    return read(CONGESTION).strip();
  }

  private static String processor() {
    return read(MODEL)
        .lines()
        .filter(line -> line.startsWith("model name"))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst()
        .orElse(System.getProperty("os.arch"));
  }

  private static String mtu(InetAddress address) {
    try {
      NetworkInterface at = NetworkInterface.getByInetAddress(address);
      return at == null ? "unknown" : Integer.toString(at.getMTU());
    } catch (SocketException e) {
      return "unknown";
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }
}
