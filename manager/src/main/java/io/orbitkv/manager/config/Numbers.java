package io.orbitkv.manager.config;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads and writes numbers with their units. Every fault says the cause and the fix. */
final class Numbers {
  private static final Pattern QUANTITY =
      Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?) ?([A-Za-z]*)");
  private static final Map<String, Long> BYTES =
      Map.of(
          "", 1L,
          "b", 1L,
          "kb", 1_000L,
          "mb", 1_000_000L,
          "gb", 1_000_000_000L,
          "tb", 1_000_000_000_000L,
          "kib", 1L << 10,
          "mib", 1L << 20,
          "gib", 1L << 30,
          "tib", 1L << 40);
  private static final List<String> UNITS = List.of("", "KiB", "MiB", "GiB", "TiB");
  private static final long GIB = 1L << 30;
  private static final Map<String, Long> NANOS =
      Map.of(
          "ns", 1L,
          "us", 1_000L,
          "ms", 1_000_000L,
          "s", 1_000_000_000L,
          "m", 60_000_000_000L,
          "min", 60_000_000_000L,
          "h", 3_600_000_000_000L);

  private Numbers() {}

  /** A number of bytes, more than 0. */
  static long bytes(String text) {
    long bytes =
        quantity(text, BYTES, "is not a size; write it as in 512MiB, 1 GiB, 2GB or 1073741824");
    if (bytes < 1) {
      throw new IllegalArgumentException("is no size to work with; write one above 0");
    }
    return bytes;
  }

  /** A number of bytes as people write it, in the largest unit that it is a multiple of. */
  static String text(long bytes) {
    int unit = Math.min(Long.numberOfTrailingZeros(bytes) / 10, UNITS.size() - 1);
    return (bytes >> (10 * unit)) + UNITS.get(unit);
  }

  /** A number of bytes for a message, never more than it is: whole MiB, or one decimal of GiB. */
  static String about(long bytes) {
    long tenths = bytes / (GIB / 10);
    return tenths < 10 ? (bytes >> 20) + "MiB" : tenths / 10 + "." + tenths % 10 + "GiB";
  }

  /** A time, more than 0. */
  static Duration duration(String text) {
    long nanos =
        quantity(text, NANOS, "is not a time; write it with its unit, as in 500ms, 60s or 2m");
    if (nanos < 1) {
      throw new IllegalArgumentException("is no time to work with; write one above 0");
    }
    return Duration.ofNanos(nanos);
  }

  private static long quantity(String text, Map<String, Long> units, String fault) {
    Matcher match = QUANTITY.matcher(text);
    Long unit = match.matches() ? units.get(match.group(2).toLowerCase(Locale.ROOT)) : null;
    if (unit == null) {
      throw new IllegalArgumentException(fault);
    }
    try {
      return new BigDecimal(match.group(1)).multiply(BigDecimal.valueOf(unit)).longValueExact();
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(fault, e);
    }
  }

  /** A whole number between two bounds, both allowed. */
  static int whole(String text, int least, int most) {
    try {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException(
        "is not a whole number from " + least + " to " + most + "; write one");
  }

  /** A port; 0 stands for any where {@code least} is 0. */
  static int port(String text, int least) {
    if (text.startsWith("tcp://")) {
      throw new IllegalArgumentException(
          "is what Kubernetes sets for a service named orbitkv; set enableServiceLinks: false in"
              + " the pod, or rename the service");
    }
    try {
      int port = Integer.parseInt(text);
      if (port >= least && port <= 65_535) {
        return port;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException("has no port from " + least + " to 65535; write one");
  }

  /** A file mode in octal digits, without bits beyond owner, group and others. */
  static int mode(String text) {
    if (!text.matches("0?[0-7]{3}")) {
      throw new IllegalArgumentException("is not a file mode; write three octal digits, as in 600");
    }
    return Integer.parseInt(text, 8);
  }

  /** A user id. */
  static long uid(String text) {
    return id(text, "is not a numeric user id; 'id -u NAME' prints it");
  }

  /** A group id. */
  static long gid(String text) {
    return id(text, "is not a numeric group id; 'id -g NAME' prints it");
  }

  private static long id(String text, String fault) {
    if (!text.matches("\\d{1,10}") || Long.parseLong(text) > 0xFFFF_FFFEL) {
      throw new IllegalArgumentException(fault);
    }
    return Long.parseLong(text);
  }
}
