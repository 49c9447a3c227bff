package io.orbitkv.manager.config;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reads a configuration file: Java properties in UTF-8, each key once. A comment stands on a line
 * of its own; behind a value it is refused, and a {@code #} that is meant is written {@code \\#}.
 */
final class ConfigurationFile {
  private static final Pattern COMMENT_BEHIND = Pattern.compile("[ \\t\\f]#");

  private ConfigurationFile() {}

  /**
   * Reads a file.
   *
   * @throws ConfigurationException naming the line
   */
  static Map<String, SettingValue> read(Path file) {
    Map<String, SettingValue> values = new LinkedHashMap<>();
    List<String> lines = lines(file);
    for (int i = 0; i < lines.size(); i++) {
      String place = file + ":" + (i + 1);
      StringBuilder logical = new StringBuilder(lines.get(i));
      boolean comment = logical.toString().strip().matches("[#!].*");
      while (!comment && endsInOddBackslashes(logical) && i + 1 < lines.size()) {
        logical.append('\n').append(lines.get(++i));
      }
      if (!comment && COMMENT_BEHIND.matcher(logical).find()) {
        throw new ConfigurationException(
            place
                + ": a comment stands behind a value, which goes on to the end of its line;"
                + " give the comment a line of its own, or write a # that is meant as \\#");
      }
      for (Map.Entry<String, String> entry : parse(logical.toString(), place).entrySet()) {
        String key = entry.getKey();
        SettingValue value =
            new SettingValue(key, entry.getValue().strip(), SettingOrigin.FILE, place);
        SettingValue first = values.putIfAbsent(key, value);
        if (first != null) {
          throw new ConfigurationException(
              place
                  + ": key '"
                  + key
                  + "' was set at "
                  + first.place()
                  + "; remove one of the two");
        }
      }
    }
    return values;
  }

  /**
   * Checks that a file says nothing that nobody reads.
   *
   * @throws ConfigurationException naming the line, the key and the closest known one
   */
  static void checkKeys(Collection<SettingValue> values, Set<String> known) {
    for (SettingValue value : values) {
      if (!known.contains(value.name())) {
        throw new ConfigurationException(
            value.place()
                + ": unknown key '"
                + value.name()
                + "'; the closest known one is '"
                + NearestName.of(value.name(), known)
                + "'");
      }
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file, StandardCharsets.UTF_8);
    } catch (CharacterCodingException e) {
      throw new ConfigurationException(
          "configuration file " + file + ": it is not UTF-8 text; save it as UTF-8", e);
    } catch (NoSuchFileException e) {
      throw new ConfigurationException(
          "configuration file " + file + ": there is no such file; check --config, ORBITKV_CONFIG",
          e);
    } catch (IOException e) {
      throw new ConfigurationException(
          "configuration file " + file + ": it can not be read: " + e + "; check its permissions",
          e);
    }
  }

  private static Map<String, String> parse(String logicalLine, String place) {
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(logicalLine));
    } catch (IOException | IllegalArgumentException e) {
      throw new ConfigurationException(
          place + ": " + e.getMessage() + "; write a backslash as \\\\", e);
    }
    return properties.stringPropertyNames().stream()
        .collect(Collectors.toMap(key -> key, properties::getProperty));
  }

  private static boolean endsInOddBackslashes(StringBuilder line) {
    int from = line.length();
    while (from > 0 && line.charAt(from - 1) == '\\') {
      from--;
    }
    return (line.length() - from) % 2 == 1;
  }
}
