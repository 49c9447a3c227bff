package io.orbitkv.adapter.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.List;

/**
 * The descriptor of a {@link Opcode#QUERY}: a u32 count, a u32 that is 0, then the names. One name
 * is u8 length of the namespace, u8 length of the hash, namespace (UTF-8), hash.
 */
public final class Names {
  /** The most names in one query. */
  public static final int LIMIT = 65_536;

  /** The shortest name: no namespace, a hash of one byte. */
  static final int LEAST_BYTES = 3;

  private Names() {}

  /** Encodes names. */
  public static byte[] encode(List<BlockName> names) {
    byte[][] parts = new byte[names.size()][];
    int bytes = 8;
    for (int i = 0; i < parts.length; i++) {
      parts[i] = one(names.get(i));
      bytes = Math.addExact(bytes, parts[i].length);
    }
    byte[] encoded = new byte[bytes];
    Cursor cursor = new Cursor("names", MemorySegment.ofArray(encoded));
    cursor.putU32(parts.length).putU32(0);
    for (byte[] part : parts) {
      cursor.putBytes(part);
    }
    return encoded;
  }

  /**
   * Decodes names of a stranger.
   *
   * @throws TransportException INVALID if they break the layout or the limit
   */
  public static List<BlockName> decode(Cursor from) {
    int count = from.count(LIMIT, LEAST_BYTES);
    from.skip(4);
    List<BlockName> names = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      names.add(read(from));
    }
    from.end();
    return names;
  }

  static byte[] one(BlockName name) {
    byte[] hash = name.hash();
    ByteBuffer namespace;
    try {
      namespace = UTF_8.newEncoder().encode(java.nio.CharBuffer.wrap(name.namespace()));
    } catch (CharacterCodingException e) {
      throw new TransportException(
          FaultCode.INVALID, "namespace of block " + name + " is not Unicode text", e);
    }
    ByteBuffer encoded = ByteBuffer.allocate(2 + namespace.remaining() + hash.length);
    encoded.put((byte) namespace.remaining()).put((byte) hash.length).put(namespace).put(hash);
    return encoded.array();
  }

  static BlockName read(Cursor from) {
    int namespaceBytes = from.u8();
    int hashBytes = from.u8();
    if (hashBytes == 0) {
      throw from.refused("a block name without a hash");
    }
    return BlockName.of(from.text(namespaceBytes), from.bytes(hashBytes));
  }
}
