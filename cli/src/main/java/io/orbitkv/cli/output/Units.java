package io.orbitkv.cli.output;

import java.util.Locale;

/** Quantities as people read them. Always in the root locale. */
public final class Units {
  private static final String[] BINARY = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

  // Without digits behind the point, 1023.5 and more would show as 1024.
  private static final double ROUNDS_UP = 1023.5;

  private Units() {}

  /** Bytes in binary units with three digits: {@code 896 KiB}, {@code 1.50 GiB}. */
  public static String bytes(long bytes) {
    if (Math.abs((double) bytes) < 1024) {
      return bytes + " B";
    }
    double value = bytes;
    int unit = -1;
    while (Math.abs(value) >= ROUNDS_UP && unit < BINARY.length - 1) {
      value /= 1024;
      unit++;
    }
    return digits(value) + " " + BINARY[unit];
  }

  /** Nanoseconds in the unit that fits: {@code 850 ns}, {@code 12.3 ms}, {@code 2.50 s}. */
  public static String nanos(long nanos) {
    double size = Math.abs((double) nanos);
    if (size < 1e3) {
      return nanos + " ns";
    }
    if (size < 1e6) {
      return digits(nanos / 1e3) + " us";
    }
    return size < 1e9 ? digits(nanos / 1e6) + " ms" : digits(nanos / 1e9) + " s";
  }

  /** A share of one in per cent: {@code 36.6 %}. */
  public static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", share * 100);
  }

  /** A number with groups of three digits: {@code 288,500}. */
  public static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  /** Bytes a second in decimal units: {@code 2.31 GB/s}. */
  public static String rate(double gigabytesPerSecond) {
    return String.format(Locale.ROOT, "%.2f GB/s", gigabytesPerSecond);
  }

  private static String digits(double value) {
    double size = Math.abs(value);
    String format = "%.0f";
    if (size < 9.995) {
      format = "%.2f";
    } else if (size < 99.95) {
      format = "%.1f";
    }
    return String.format(Locale.ROOT, format, value);
  }
}
