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
 */
public record TcpInfo(int localPort, int remotePort, long received, long acknowledged) {
  private static final Pattern LINE =
      Pattern.compile("^\\d+\\s+\\d+\\s+\\S+:(\\d+)\\s+\\S+:(\\d+)\\s(.*)$");
  private static final Pattern RECEIVED = Pattern.compile("bytes_received:(\\d+)");
  private static final Pattern ACKNOWLEDGED = Pattern.compile("bytes_acked:(\\d+)");

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
    List<TcpInfo> found = new ArrayList<>();
    try {
      for (String line :
          run("ss", "-tinHO", "state", "established", "dport", "=", ":" + port).lines().toList()) {
        Matcher matcher = LINE.matcher(line);
        if (matcher.matches()) {
          found.add(
              new TcpInfo(
                  Integer.parseInt(matcher.group(1)),
                  Integer.parseInt(matcher.group(2)),
                  number(RECEIVED, matcher.group(3)),
                  number(ACKNOWLEDGED, matcher.group(3))));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
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
