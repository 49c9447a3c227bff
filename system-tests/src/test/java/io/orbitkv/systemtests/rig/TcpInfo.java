package io.orbitkv.systemtests.rig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the kernel counted on one established TCP connection.
 *
 * @param localPort of the end that was looked at
 * @param remotePort of the other end
 * @param received payload that came in, bytes
 * @param acknowledged payload that went out and arrived, bytes
 * @param unsent payload that waits in the send buffer and was not sent so far, bytes
 */
public record TcpInfo(
    int localPort, int remotePort, long received, long acknowledged, long unsent) {
  private static final Pattern LINE =
      Pattern.compile("^\\d+\\s+\\d+\\s+\\S+:(\\d+)\\s+\\S+:(\\d+)\\s(.*)$");
  private static final Pattern RECEIVED = Pattern.compile("bytes_received:(\\d+)");
  private static final Pattern ACKNOWLEDGED = Pattern.compile("bytes_acked:(\\d+)");
  private static final Pattern UNSENT = Pattern.compile("notsent:(\\d+)");

  /** Why it can not be asked for here; empty if it can. */
  public static String obstacle() {
    try {
      run("ss", "-V");
      return "";
    } catch (IOException e) {
      return "needs ss of iproute2: " + e.getMessage();
    }
  }

  /** The ends of all connections to a port, at those who connected. */
  public static List<TcpInfo> to(int port) {
    return list(List.of(), "dport", port);
  }

  /** The ends of all connections to a port, at the one that listens, on a side of two. */
  public static List<TcpInfo> at(Namespaces hosts, String side, int port) {
    return list(hosts.on(side), "sport", port);
  }

  private static List<TcpInfo> list(List<String> where, String end, int port) {
    List<String> line = new ArrayList<>(where);
    line.addAll(List.of("ss", "-tinHO", "state", "established", end, "=", ":" + port));
    try {
      return run(line.toArray(String[]::new))
          .lines()
          .map(LINE::matcher)
          .filter(Matcher::matches)
          .map(TcpInfo::of)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static TcpInfo of(Matcher line) {
    return new TcpInfo(
        Integer.parseInt(line.group(1)),
        Integer.parseInt(line.group(2)),
        number(RECEIVED, line.group(3)),
        number(ACKNOWLEDGED, line.group(3)),
        number(UNSENT, line.group(3)));
  }

  private static long number(Pattern field, String text) {
    Matcher matcher = field.matcher(text);
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }

  private static String run(String... line) throws IOException {
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.onExit().join().exitValue() != 0) {
      throw new IOException(String.join(" ", line) + ": " + output.strip());
    }
    return output;
  }
}
