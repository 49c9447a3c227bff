package io.orbitkv.provider.tcp;

import io.orbitkv.ffm.TcpStream;
import java.net.InetAddress;
import java.util.List;

/**
 * The choice of the congestion control of one connection. {@code system} leaves what the system
 * set; a name sets that one; {@code auto} leaves it too, except that bbr, which paces and so costs
 * half of the throughput where no queue can be lost, gives way to cubic or else reno on a
 * connection whose two ends have the same address or a loopback address.
 */
final class Congestion {
  private static final List<String> WITHOUT_PACING = List.of("cubic", "reno");

  private Congestion() {}

  /** Applies the choice; a name that the kernel does not allow leaves things as they are. */
  static void apply(TcpStream stream, String choice) {
    if (choice.equals("system")) {
      return;
    }
    if (!choice.equals("auto")) {
      stream.options().congestion(choice);
      return;
    }
    InetAddress remote = stream.remoteAddress().getAddress();
    boolean sameHost =
        remote.isLoopbackAddress() || remote.equals(stream.localAddress().getAddress());
    if (sameHost && stream.options().congestion().equals("bbr")) {
      for (String name : WITHOUT_PACING) {
        if (stream.options().congestion(name)) {
          return;
        }
      }
    }
  }
}
