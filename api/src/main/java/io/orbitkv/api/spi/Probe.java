package io.orbitkv.api.spi;

/**
 * Whether a provider works here.
 *
 * @param usable whether {@code open} can be expected to succeed
 * @param detail one line: what was found, or why it does not work
 * @param fix one line: what would make it work; empty if it is usable
 */
public record Probe(boolean usable, String detail, String fix) {
  /** It works. */
  public static Probe usable(String detail) {
    return new Probe(true, detail, "");
  }

  /** It does not work. */
  public static Probe unusable(String detail, String fix) {
    return new Probe(false, detail, fix);
  }
}
