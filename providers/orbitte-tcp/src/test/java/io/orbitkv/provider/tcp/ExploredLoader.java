package io.orbitkv.provider.tcp;

import io.orbitkv.tck.explore.World;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Loads the provider's classes and the worlds around them once more, with a mutant of {@link Gate}
 * where they name the real one. So the rules' absence can be explored on the real classes without a
 * lever in them.
 */
final class ExploredLoader extends ClassLoader {
  private static final String PACKAGE = ExploredLoader.class.getPackageName() + ".";
  private static final String GATE = Gate.class.getName();

  /** One for each mutant, so that its code is compiled once. */
  private static final Map<Class<?>, ExploredLoader> LOADERS = new ConcurrentHashMap<>();

  private final String mutant;

  private ExploredLoader(Class<?> mutant) {
    super(ExploredLoader.class.getClassLoader());
    this.mutant = mutant.getName();
  }

  /**
   * Worlds of a class, whose one constructor takes the arguments.
   *
   * @param mutant in place of the gate; null: the real one, and nothing is loaded again
   */
  static Supplier<World> worlds(
      Class<? extends World> type, @Nullable Class<?> mutant, Object... arguments) {
    Constructor<?> constructor;
    try {
      Class<?> loaded =
          mutant == null
              ? type
              : LOADERS.computeIfAbsent(mutant, ExploredLoader::new).loadClass(type.getName());
      constructor = loaded.getDeclaredConstructors()[0];
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
    // Another loading is another package.
    constructor.setAccessible(true);
    return () -> {
      try {
        return (World) constructor.newInstance(arguments);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("no world of " + type, e);
      }
    };
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(PACKAGE)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      byte[] bytes = in.readAllBytes();
      if (!name.equals(GATE)) {
        bytes = rename(bytes, GATE.replace('.', '/'), mutant.replace('.', '/'));
      }
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  /** Renames a class in the constant pool of a class file; tags: JVM specification, 4.4. */
  private static byte[] rename(byte[] classFile, String from, String to) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(classFile));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.write(in.readNBytes(8));
    int count = in.readUnsignedShort();
    out.writeShort(count);
    for (int i = 1; i < count; i++) {
      int tag = in.readUnsignedByte();
      out.writeByte(tag);
      switch (tag) {
        case 1 -> {
          String text = in.readUTF();
          boolean name = text.equals(from);
          out.writeUTF(name ? to : text.replace("L" + from + ";", "L" + to + ";"));
        }
        case 5, 6 -> {
          out.writeLong(in.readLong());
          // It occupies two places.
          i++;
        }
        case 7, 8, 16, 19, 20 -> out.write(in.readNBytes(2));
        case 15 -> out.write(in.readNBytes(3));
        case 3, 4, 9, 10, 11, 12, 17, 18 -> out.write(in.readNBytes(4));
        default -> throw new IOException("a constant of tag " + tag);
      }
    }
    in.transferTo(out);
    return bytes.toByteArray();
  }
}
