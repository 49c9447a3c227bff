package io.orbitkv.adapter;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The opaque name of a block: a namespace and a hash, both given by the engine. Immutable; two
 * names are equal if both parts are.
 */
public final class BlockName {
  /** Longest namespace, bytes of UTF-8. */
  public static final int MAX_NAMESPACE_BYTES = 255;

  /** Longest hash, bytes. */
  public static final int MAX_HASH_BYTES = 255;

  private final String namespace;
  private final byte[] hash;
  private final int hashCode;

  private BlockName(String namespace, byte[] hash) {
    this.namespace = namespace;
    this.hash = hash;
    this.hashCode = 31 * namespace.hashCode() + Arrays.hashCode(hash);
  }

  /**
   * A name.
   *
   * @param namespace model, revision, layout, whatever keeps names apart; at most {@value
   *     #MAX_NAMESPACE_BYTES} bytes of UTF-8, may be empty
   * @param hash 1 to {@value #MAX_HASH_BYTES} bytes, copied
   * @throws IllegalArgumentException if a part is too long or the hash is empty
   */
  public static BlockName of(String namespace, byte[] hash) {
    int namespaceBytes = namespace.getBytes(StandardCharsets.UTF_8).length;
    if (namespaceBytes > MAX_NAMESPACE_BYTES) {
      throw new IllegalArgumentException(
          "namespace of " + namespaceBytes + " bytes; the limit is " + MAX_NAMESPACE_BYTES);
    }
    if (hash.length == 0 || hash.length > MAX_HASH_BYTES) {
      throw new IllegalArgumentException(
          "block hash of " + hash.length + " bytes; allowed are 1 to " + MAX_HASH_BYTES);
    }
    return new BlockName(namespace, hash.clone());
  }

  /** The namespace. */
  public String namespace() {
    return namespace;
  }

  /** A copy of the hash. */
  public byte[] hash() {
    return hash.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BlockName name
        && hashCode == name.hashCode
        && namespace.equals(name.namespace)
        && Arrays.equals(hash, name.hash);
  }

  @Override
  public int hashCode() {
    return hashCode;
  }

  /** {@code namespace/hash} with the hash in hexadecimal. */
  @Override
  public String toString() {
    return namespace + "/" + HexFormat.of().formatHex(hash);
  }
}
