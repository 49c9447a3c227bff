package io.orbitkv.api.provider;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.SecureRandom;

/** The random bytes that open the gate of one grant. Printed nowhere. */
final class Secret {
  static final int BYTES = 16;

  private static final SecureRandom RANDOM = new SecureRandom();

  private final byte[] bytes;

  private Secret(byte[] bytes) {
    this.bytes = bytes;
  }

  static Secret random() {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return new Secret(bytes);
  }

  static Secret read(ByteBuffer from) {
    byte[] bytes = new byte[BYTES];
    from.get(bytes);
    return new Secret(bytes);
  }

  byte[] bytes() {
    return bytes.clone();
  }

  /** Takes the same time wherever they differ. */
  boolean matches(byte[] shown) {
    return MessageDigest.isEqual(bytes, shown);
  }
}
