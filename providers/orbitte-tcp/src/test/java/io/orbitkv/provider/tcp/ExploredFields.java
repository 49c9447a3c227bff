package io.orbitkv.provider.tcp;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The hidden state of real objects, for fingerprints. */
final class ExploredFields {
  private ExploredFields() {}

  /** What a private field refers to; the value of an atomic. */
  static @Nullable Object value(Object owner, String field) {
    try {
      Field found = owner.getClass().getDeclaredField(field);
      return read(found, owner);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(owner.getClass() + " has no more " + field, e);
    }
  }

  /** Everything that the gate of a ticket or of a hold knows. */
  static List<Object> gate(Object owner) {
    Object gate = value(owner, "gate");
    List<Object> values = new ArrayList<>();
    for (Class<?> type = gate == null ? null : gate.getClass();
        gate != null && type != null && type != Object.class;
        type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers())) {
          try {
            values.add(String.valueOf(read(field, gate)));
          } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
          }
        }
      }
    }
    return values;
  }

  private static @Nullable Object read(Field field, Object owner)
      throws ReflectiveOperationException {
    field.setAccessible(true);
    Object value = field.get(owner);
    return switch (value) {
      case AtomicLong number -> number.get();
      case AtomicReference<?> reference -> reference.get();
      case null, default -> value;
    };
  }
}
