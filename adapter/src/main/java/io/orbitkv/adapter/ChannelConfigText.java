package io.orbitkv.adapter;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the file of a domain says, checked but for its folders: {@code key=value} lines of UTF-8,
 * blank lines and those that begin with {@code #} skipped.
 */
record ChannelConfigText(
    Path socket,
    @Nullable Path registryDirectory,
    OptionalInt managerUid,
    @Nullable String instance) {
  private static final String SOCKET = "socket";
  private static final String REGISTRY = "registry-directory";
  private static final String UID = "manager-uid";
  private static final String INSTANCE = "instance";
  private static final Set<String> KEYS = Set.of(SOCKET, REGISTRY, UID, INSTANCE);
  private static final int MAX_SOCKET_BYTES = 107;

  static ChannelConfigText parse(Path file, byte[] bytes) {
    Map<String, String> values = values(file, bytes);
    String socket = values.get(SOCKET);
    if (socket == null) {
      throw ChannelConfig.invalid(file + " names no socket; add a line socket=PATH");
    }
    if (socket.getBytes(UTF_8).length > MAX_SOCKET_BYTES) {
      throw ChannelConfig.invalid(
          file + ": socket of more than " + MAX_SOCKET_BYTES + " bytes; use a shorter folder");
    }
    String registry = values.get(REGISTRY);
    String instance = values.get(INSTANCE);
    if (instance != null
        && (instance.isEmpty()
            || instance.getBytes(UTF_8).length > ClientOptions.MAX_INSTANCE_BYTES)) {
      throw ChannelConfig.invalid(
          file
              + ": instance of "
              + instance.getBytes(UTF_8).length
              + " bytes; write 1 to "
              + ClientOptions.MAX_INSTANCE_BYTES);
    }
    return new ChannelConfigText(
        ChannelConfig.path(file + ": " + SOCKET + "=" + socket, socket),
        registry == null
            ? null
            : ChannelConfig.path(file + ": " + REGISTRY + "=" + registry, registry),
        uid(file, values.get(UID)),
        instance);
  }

  private static Map<String, String> values(Path file, byte[] bytes) {
    Map<String, String> values = new HashMap<>();
    int number = 0;
    for (String raw : decoded(file, bytes).split("\n", -1)) {
      number++;
      String line = raw.strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      String where = file + ":" + number + ": ";
      int equals = line.indexOf('=');
      String key = equals < 0 ? line : line.substring(0, equals).strip();
      if (equals < 0 || !KEYS.contains(key)) {
        throw ChannelConfig.invalid(
            where
                + "'"
                + key
                + "' is no key=value of this file; the keys are socket, manager-uid,"
                + " instance, registry-directory");
      }
      if (values.put(key, line.substring(equals + 1).strip()) != null) {
        throw ChannelConfig.invalid(where + key + " is there twice; remove one");
      }
    }
    return values;
  }

  private static String decoded(Path file, byte[] bytes) {
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException _) {
      throw ChannelConfig.invalid(file + " is not UTF-8; write it so");
    }
  }

  private static OptionalInt uid(Path file, @Nullable String text) {
    if (text == null) {
      return OptionalInt.empty();
    }
    try {
      if (text.matches("\\d{1,10}")) {
        return OptionalInt.of(Integer.parseInt(text));
      }
    } catch (NumberFormatException _) {
      // falls through to the refusal
    }
    throw ChannelConfig.invalid(
        file + ": manager-uid=" + text + " is no user id; write its number");
  }
}
