package io.orbitkv.cli.replay;

import io.orbitkv.adapter.PublishResult;
import java.nio.charset.StandardCharsets;

/** Why a block was not published, for people. */
public final class Reason {
  // What the Manager's answer has room for, less what a last character of several bytes may miss.
  private static final int CUT_BYTES = 88;
  private static final int LONGEST_CHARACTER_BYTES = 4;

  private Reason() {}

  /** The Manager's own words; an ellipsis behind the last whole one where it had more to say. */
  public static String of(PublishResult result) {
    String detail = result.detail();
    return detail == null || detail.isBlank() ? "no reason given" : whole(detail);
  }

  static String whole(String text) {
    int bytes = text.getBytes(StandardCharsets.UTF_8).length;
    boolean ascii = bytes == text.length();
    if (bytes < (ascii ? CUT_BYTES : CUT_BYTES - LONGEST_CHARACTER_BYTES + 1)) {
      return text;
    }
    int blank = text.lastIndexOf(' ');
    return (blank > 0 ? text.substring(0, blank) : text).replaceFirst("[\\p{Punct} ]+$", "")
        + "...";
  }
}
