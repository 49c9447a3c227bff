package io.orbitkv.provider.tcp;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Meters.Gauge;
import io.orbitkv.ffm.TcpOptions;
import io.orbitkv.ffm.TcpStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The choice of the congestion control of one connection. {@code system} leaves what the system
 * set; a name sets that one; {@code auto} leaves it too, except that bbr, which paces, gives way to
 * cubic or else reno on a short path: between two addresses of this host, or one whose least round
 * trip is below {@link #SHORT_PATH_MICROS}. The kernel knows that only after some traffic, so the
 * sender of the payload looks again after each of the first READs. One thread.
 */
final class Congestion {
  /** A path this short has no room for a queue that pacing could avoid, microseconds. */
  static final int SHORT_PATH_MICROS = 500;

  private static final int LOOKS = 64;
  private static final List<String> WITHOUT_PACING = List.of("cubic", "reno");

  private final TcpStream stream;
  private int looksLeft;
  private Function<String, Gauge> gauges = _ -> _ -> {};
  private @Nullable Gauge counted;

  private Congestion(TcpStream stream, int looksLeft) {
    this.stream = stream;
    this.looksLeft = looksLeft;
  }

  /** Applies the choice; a name that the kernel does not allow leaves things as they are. */
  static Congestion apply(TcpStream stream, String choice) {
    Congestion applied = new Congestion(stream, choice.equals("auto") ? LOOKS : 0);
    if (!choice.equals("auto") && !choice.equals("system")) {
      stream.options().congestion(choice);
    } else {
      var _ = applied.lookAgain();
    }
    return applied;
  }

  /** What is in force, as the kernel tells. */
  String inForce() {
    return stream.options().congestion();
  }

  /** Counts the connection at the gauge of what is in force, until {@link #uncount()}. */
  void count(Function<String, Gauge> byName) {
    gauges = byName;
    recount();
  }

  private void recount() {
    uncount();
    Gauge gauge = gauges.apply(inForce());
    gauge.add(1);
    counted = gauge;
  }

  /** Counts it no more; before its stream is closed, or after, repeatable. */
  void uncount() {
    if (counted != null) {
      counted.add(-1);
      counted = null;
    }
  }

  /** After traffic: whether another one is in force now, since the path was found to be short. */
  boolean lookAgain() {
    if (looksLeft == 0) {
      return false;
    }
    looksLeft--;
    if (!inForce().equals("bbr")) {
      looksLeft = 0;
      return false;
    }
    if (!isShort()) {
      return false;
    }
    looksLeft = 0;
    boolean changed = WITHOUT_PACING.stream().anyMatch(stream.options()::congestion);
    if (changed && counted != null) {
      recount();
    }
    return changed;
  }

  /**
   * Refuses a name that the kernel does not have, or not for this process.
   *
   * @throws TransportException INVALID, with the names that there are
   */
  static void check(TcpOptions socket, String choice) {
    if (choice.equals("auto") || choice.equals("system") || socket.congestion(choice)) {
      return;
    }
    throw new TransportException(
        FaultCode.INVALID,
        "orbitte-tcp-congestion '"
            + choice
            + "' can not be chosen here: the kernel has "
            + names("tcp_available_congestion_control")
            + " and allows every process "
            + names("tcp_allowed_congestion_control")
            + "; name one of them, auto or system");
  }

  private static String names(String list) {
    try {
      return Files.readString(Path.of("/proc/sys/net/ipv4", list)).strip().replace(' ', ',');
    } catch (IOException e) {
      return "what net.ipv4." + list + " says";
    }
  }

  /** Whether the path is loopback, or from an address to itself. */
  boolean staysInHost() {
    InetAddress remote = stream.remoteAddress().getAddress();
    return remote.isLoopbackAddress() || remote.equals(stream.localAddress().getAddress());
  }

  private boolean isShort() {
    return staysInHost() || stream.options().leastRoundTripMicros() < SHORT_PATH_MICROS;
  }
}
