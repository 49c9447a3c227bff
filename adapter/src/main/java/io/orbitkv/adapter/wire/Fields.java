package io.orbitkv.adapter.wire;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A body made of fields, each u16 type, u16 0, u32 length, value. Types that a version does not
 * know are skipped, so that fields can be added.
 */
final class Fields {
  /** One field. */
  record Field(int type, Cursor value) {}

  private static final int FIELD_LIMIT = 256;
  private static final int HEADER_BYTES = 8;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  Fields add(int type, byte[] value) {
    byte[] header = new byte[HEADER_BYTES];
    new Cursor("field", MemorySegment.ofArray(header)).putU16(type).putU16(0).putU32(value.length);
    out.writeBytes(header);
    out.writeBytes(value);
    return this;
  }

  Fields addU64(int type, long value) {
    byte[] bytes = new byte[8];
    new Cursor("field", MemorySegment.ofArray(bytes)).putU64(value);
    return add(type, bytes);
  }

  MemorySegment body() {
    return MemorySegment.ofArray(out.toByteArray());
  }

  static List<Field> read(String what, MemorySegment body) {
    Cursor cursor = new Cursor(what, body);
    List<Field> fields = new ArrayList<>();
    while (cursor.remaining() > 0) {
      if (fields.size() == FIELD_LIMIT) {
        throw cursor.refused("more than " + FIELD_LIMIT + " fields");
      }
      int type = cursor.u16();
      cursor.skip(2);
      long length = cursor.u32();
      fields.add(new Field(type, cursor.part(what + " field " + type, length)));
    }
    return fields;
  }
}
