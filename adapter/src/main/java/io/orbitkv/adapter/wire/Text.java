package io.orbitkv.adapter.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;

/** Texts of bounded length. */
public final class Text {
  /** Room for a reason on a record of fixed size, bytes. */
  public static final int RECORD_BYTES = 88;

  /** Room for a reason in a frame or a descriptor of its own, bytes. */
  public static final int REFUSAL_BYTES = 1_024;

  private Text() {}

  /** UTF-8 of a text, cut between two characters where it is longer than the limit. */
  public static byte[] cut(String text, int limit) {
    byte[] bytes = text.getBytes(UTF_8);
    if (bytes.length <= limit) {
      return bytes;
    }
    int end = limit;
    while (end > 0 && (bytes[end] & 0xc0) == 0x80) {
      end--;
    }
    return Arrays.copyOf(bytes, end);
  }
}
