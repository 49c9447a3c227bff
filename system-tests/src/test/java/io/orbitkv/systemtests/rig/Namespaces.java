package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two network namespaces joined by a veth pair, each with an IPv4 and an IPv6 address: two hosts on
 * one machine. Needs root and iproute2.
 */
public final class Namespaces implements AutoCloseable {
  private static final List<String> SIDES = List.of("a", "b");

  private final String prefix = "okv" + ProcessHandle.current().pid();

  private Namespaces() {}

  /** Why they can not be made here; empty if they can. */
  public static String obstacle() {
    try {
      if (!run("id", "-u").strip().equals("0")) {
        return "needs root and iproute2: this user is not root";
      }
      run("ip", "-V");
      return "";
    } catch (IllegalStateException e) {
      return "needs root and iproute2: " + e.getMessage();
    }
  }

  /** Makes both. */
  public static Namespaces create() {
    Namespaces namespaces = new Namespaces();
    try {
      namespaces.build();
      return namespaces;
    } catch (RuntimeException e) {
      namespaces.close();
      throw e;
    }
  }

  /** What a command line begins with to run on that side, {@code a} or {@code b}. */
  public List<String> on(String side) {
    return List.of("ip", "netns", "exec", prefix + side);
  }

  /** The IPv4 address of a side. */
  public String ipv4(String side) {
    return "10.77.13." + (1 + SIDES.indexOf(side));
  }

  /** The IPv6 address of a side, without brackets. */
  public String ipv6(String side) {
    return "fd77:13::" + (1 + SIDES.indexOf(side));
  }

  /** Limits what that side can send, such as {@code 40mbit}. */
  public void slow(String side, String rate) {
    run(
        "tc",
        "-n",
        prefix + side,
        "qdisc",
        "add",
        "dev",
        prefix + "v" + side,
        "root",
        "tbf",
        "rate",
        rate,
        "burst",
        "64kb",
        "latency",
        "50ms");
  }

  /** Takes the link between them down: packets of both directions are lost. */
  public void unplug() {
    for (String side : SIDES) {
      in(side, "link", "set", prefix + "v" + side, "down");
    }
  }

  /**
   * Loses what that side sends to the other one by IPv4, and nothing of what it is sent: the other
   * side's hardware address is a wrong one from now on.
   */
  public void mute(String side) {
    String other = side.equals("a") ? "b" : "a";
    in(
        side,
        "neigh",
        "replace",
        ipv4(other),
        "lladdr",
        "02:00:00:00:00:01",
        "dev",
        prefix + "v" + side,
        "nud",
        "permanent");
  }

  private void build() {
    SIDES.forEach(side -> run("ip", "netns", "add", prefix + side));
    run(
        "ip",
        "link",
        "add",
        prefix + "va",
        "netns",
        prefix + "a",
        "type",
        "veth",
        "peer",
        "name",
        prefix + "vb",
        "netns",
        prefix + "b");
    for (String side : SIDES) {
      String device = prefix + "v" + side;
      in(side, "link", "set", "lo", "up");
      in(side, "addr", "add", ipv4(side) + "/24", "dev", device);
      // Without nodad the address can not be bound for a second.
      in(side, "-6", "addr", "add", ipv6(side) + "/64", "dev", device, "nodad");
      in(side, "link", "set", device, "up");
    }
  }

  @Override
  public void close() {
    for (String side : SIDES) {
      try {
        run("ip", "netns", "del", prefix + side);
      } catch (IllegalStateException e) {
        // It was not made.
      }
    }
  }

  private void in(String side, String... words) {
    String[] line = new String[words.length + 3];
    line[0] = "ip";
    line[1] = "-n";
    line[2] = prefix + side;
    System.arraycopy(words, 0, line, 3, words.length);
    run(line);
  }

  private static String run(String... line) {
    String what = String.join(" ", line);
    try {
      Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(10, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IllegalStateException(what + ": " + output.strip());
      }
      return output;
    } catch (IOException e) {
      throw new IllegalStateException(what + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException("interrupted: " + what, e));
    }
  }
}
