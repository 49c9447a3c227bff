package io.orbitkv.provider.tcp;

import java.security.SecureRandom;

/** A 128-bit capability. Never logged; compared in constant time. */
final class Token {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final long high;
  private final long low;

  Token(long high, long low) {
    this.high = high;
    this.low = low;
  }

  static Token random() {
    return new Token(RANDOM.nextLong(), RANDOM.nextLong());
  }

  long high() {
    return high;
  }

  long low() {
    return low;
  }

  /** Whether the two halves are this token's, in a time that does not depend on them. */
  boolean matches(long otherHigh, long otherLow) {
    return ((high ^ otherHigh) | (low ^ otherLow)) == 0;
  }

  @Override
  public String toString() {
    return "token";
  }
}
