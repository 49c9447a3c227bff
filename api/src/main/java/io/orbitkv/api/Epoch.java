package io.orbitkv.api;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The random 128-bit identity of one incarnation: of a Manager (Manager epoch), or of one opened
 * {@link io.orbitkv.api.spi.Transport} (transport epoch), which can be replaced inside a living
 * Manager. Two epochs are equal or unrelated; there is no order between them. A request that names
 * another epoch is refused, never upgraded.
 *
 * @param high the first 8 bytes, big-endian
 * @param low the last 8 bytes, big-endian
 */
public record Epoch(long high, long low) {
  /** Length of the binary form, in bytes. */
  public static final int BYTES = 16;

  /** The value that no incarnation has; stands for "not known yet" on a wire. */
  public static final Epoch NONE = new Epoch(0, 0);

  private static final SecureRandom RANDOM = new SecureRandom();

  /** A new identity, from the platform's secure random generator; never {@link #NONE}. */
  public static Epoch random() {
    Epoch epoch;
    do {
      epoch = new Epoch(RANDOM.nextLong(), RANDOM.nextLong());
    } while (epoch.equals(NONE));
    return epoch;
  }

  /**
   * Reads the binary form.
   *
   * @param from big-endian buffer with at least {@value #BYTES} bytes remaining; its position moves
   */
  public static Epoch read(ByteBuffer from) {
    return new Epoch(from.getLong(), from.getLong());
  }

  /**
   * Writes the binary form.
   *
   * @param to big-endian buffer with at least {@value #BYTES} bytes remaining; its position moves
   */
  public void write(ByteBuffer to) {
    to.putLong(high).putLong(low);
  }

  /**
   * Parses the text form, 32 hexadecimal digits.
   *
   * @throws IllegalArgumentException if the text is anything else
   */
  public static Epoch parse(String text) {
    if (text.length() != 2 * BYTES) {
      throw new IllegalArgumentException("epoch '" + text + "' is not 32 hexadecimal digits");
    }
    return new Epoch(
        HexFormat.fromHexDigitsToLong(text, 0, 16), HexFormat.fromHexDigitsToLong(text, 16, 32));
  }

  /** The text form, 32 hexadecimal digits. */
  @Override
  public String toString() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(high) + hex.toHexDigits(low);
  }
}
