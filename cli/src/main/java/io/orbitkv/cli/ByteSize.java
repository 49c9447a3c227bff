package io.orbitkv.cli;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a number of bytes with or without a unit: {@code 65536}, {@code 64KiB}, {@code 2 MiB}. */
final class ByteSize implements ITypeConverter<Long> {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,18}) ?([A-Za-z]*)");
  private static final Map<String, Long> UNITS =
      Map.of(
          "", 1L,
          "b", 1L,
          "kb", 1_000L,
          "mb", 1_000_000L,
          "gb", 1_000_000_000L,
          "kib", 1L << 10,
          "mib", 1L << 20,
          "gib", 1L << 30);

  ByteSize() {}

  @Override
  public Long convert(String text) {
    Matcher match = SIZE.matcher(text);
    Long unit = match.matches() ? UNITS.get(match.group(2).toLowerCase(Locale.ROOT)) : null;
    try {
      if (unit != null) {
        long bytes = Math.multiplyExact(Long.parseLong(match.group(1)), unit);
        if (bytes > 0) {
          return bytes;
        }
      }
    } catch (ArithmeticException e) {
      // Told below.
    }
    throw new TypeConversionException("'" + text + "' is not a size; write it as in 65536 or 2MiB");
  }
}
