package io.orbitkv.manager.config;

import io.orbitkv.adapter.ChannelConfig;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.ffm.PageSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The value of every setting, and of the options of the providers, with its place: a flag wins over
 * the environment, that over the one file, and that over the default. Immutable; values are checked
 * when they are read.
 */
public final class SettingValues {
  /** The flag that names the file; {@code ORBITKV_CONFIG} is its variable. */
  public static final String CONFIG = "config";

  private static final long MAX_POOL_BYTES = 1L << 40;

  /** Read by the launcher. */
  private static final Set<String> OTHER_VARIABLES =
      Set.of(
          ChannelConfig.VARIABLE,
          "ORBITKV_CONFIG",
          "ORBITKV_HOME",
          "ORBITKV_JAVA_HOME",
          "ORBITKV_JAVA_ID",
          "ORBITKV_JAVA_MINIMUM",
          "ORBITKV_JAVA_OPTS",
          "ORBITKV_AOT");

  private final Map<String, SettingValue> given;
  private final Map<String, String> environment;
  private final Map<String, SettingValue> file;
  private final Set<String> optionNames;

  private SettingValues(
      Map<String, SettingValue> given,
      Map<String, String> environment,
      Map<String, SettingValue> file,
      Set<String> optionNames) {
    this.given = given;
    this.environment = environment;
    this.file = file;
    this.optionNames = Set.copyOf(optionNames);
  }

  /**
   * The values as far as they are known without the providers: keys of the file that no setting has
   * are left alone. For the settings that say where the providers are.
   */
  public static SettingValues beforePlugins(
      Map<String, String> flags, Map<String, String> environment) {
    Map<String, SettingValue> file = file(flags, environment);
    return new SettingValues(
        gather(flags, environment, settingNames(), file), environment, file, Set.of());
  }

  /**
   * All values.
   *
   * @param flags by name without dashes; the values of a list joined by its separator
   * @param environment the variables of this process
   * @param options the options of every provider, by the provider's name
   * @throws ConfigurationException if the file can not be read, holds a key that is neither a
   *     setting nor an option, or if an option is set whose provider is not the backend
   */
  public static SettingValues resolve(
      Map<String, String> flags,
      Map<String, String> environment,
      Map<String, List<OptionSpec>> options) {
    Set<String> names = settingNames();
    Map<String, String> owners = new HashMap<>();
    options.forEach((provider, specs) -> specs.forEach(spec -> owners.put(spec.name(), provider)));
    names.addAll(owners.keySet());
    Map<String, SettingValue> file = file(flags, environment);
    ConfigurationFile.checkKeys(file.values(), names);
    Map<String, SettingValue> given = gather(flags, environment, names, file);
    DomainSettings.apply(given, environment);
    SettingValues values = new SettingValues(given, environment, file, owners.keySet());
    String backend = values.get(Settings.BACKEND);
    for (SettingValue value : given.values()) {
      checkOwner(value, owners.getOrDefault(value.name(), backend), backend);
    }
    for (OptionSpec spec : options.getOrDefault(backend, List.of())) {
      given.putIfAbsent(spec.name(), SettingValue.ofDefault(spec.name(), spec.defaultValue()));
    }
    return values;
  }

  /**
   * The one value of a setting.
   *
   * @throws ConfigurationException if it is not acceptable: the setting, its place, the value, the
   *     cause and the fix
   */
  public <T> T get(Setting<T> setting) {
    SettingValue value = value(setting);
    return parse(setting, value);
  }

  /**
   * The values of a list.
   *
   * @throws ConfigurationException as for {@link #get}, naming the first wrong one
   */
  public <T> List<T> list(Setting<T> setting) {
    SettingValue value = value(setting);
    List<T> parsed = new ArrayList<>();
    if (!value.text().isEmpty()) {
      String separator = String.valueOf(setting.separator());
      for (String part : value.text().split(separator, -1)) {
        parsed.add(
            parse(
                setting,
                new SettingValue(value.name(), part.strip(), value.origin(), value.place())));
      }
    }
    return List.copyOf(parsed);
  }

  /** The text of a setting and its place. */
  public SettingValue value(Setting<?> setting) {
    SettingValue value = given.get(setting.name());
    return value != null
        ? value
        : SettingValue.ofDefault(setting.name(), setting.defaultText().apply(this));
  }

  /**
   * All settings, then the options of the backend; for people: a default that follows from another
   * value, or from the start itself, says so.
   */
  public List<SettingValue> all() {
    Set<String> settings = settingNames();
    List<SettingValue> all = new ArrayList<>();
    Settings.ALL.forEach(setting -> all.add(DerivedDefault.shown(this, value(setting))));
    given.values().stream().filter(value -> !settings.contains(value.name())).forEach(all::add);
    return all;
  }

  /**
   * One line about the variables of the environment that nobody reads and that are spelt almost
   * like ones that are read; empty if there are none. To be logged at the start.
   */
  public Optional<String> misspeltVariables() {
    Set<String> known = new TreeSet<>(OTHER_VARIABLES);
    settingNames().forEach(name -> known.add(SettingValue.environmentName(name)));
    optionNames.forEach(name -> known.add(SettingValue.environmentName(name)));
    List<String> found = new ArrayList<>();
    for (String variable : new TreeSet<>(environment.keySet())) {
      if (variable.startsWith(SettingValue.PREFIX) && !known.contains(variable)) {
        NearestName.closeTo(variable, SettingValue.PREFIX, known)
            .ifPresent(near -> found.add(variable + " (did you mean " + near + "?)"));
      }
    }
    return found.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "environment variables that are not read: "
                + String.join(", ", found)
                + "; rename or unset them");
  }

  /** The options of any provider by full name, every one present, without flags. */
  public Map<String, String> optionsOf(List<OptionSpec> options) {
    List<String> names = options.stream().map(OptionSpec::name).toList();
    Map<String, SettingValue> found = gather(Map.of(), environment, names, file);
    Map<String, String> values = new LinkedHashMap<>();
    for (OptionSpec option : options) {
      SettingValue value = found.get(option.name());
      values.put(option.name(), value == null ? option.defaultValue() : value.text());
    }
    return values;
  }

  /** The options of the backend by full name, every one present. */
  Map<String, String> providerOptions() {
    Set<String> settings = settingNames();
    Map<String, String> found = new LinkedHashMap<>();
    for (SettingValue value : given.values()) {
      if (!settings.contains(value.name())) {
        found.put(value.name(), value.text());
      }
    }
    return found;
  }

  /** The size of the pool, rounded up to whole pages. */
  long poolBytes() {
    long page = PageSize.bytes();
    SettingValue value = value(Settings.POOL_BYTES);
    long bytes = get(Settings.POOL_BYTES);
    if (bytes < page) {
      throw value.fault("is less than one page of " + page + " bytes; make it at least that");
    }
    if (bytes > MAX_POOL_BYTES) {
      throw value.fault("is more than 1 TiB, the most that can be registered; make it smaller");
    }
    return PageSize.roundUp(bytes);
  }

  String defaultRegistryDirectory() {
    String runtime = environment.getOrDefault("XDG_RUNTIME_DIR", "");
    if (!runtime.isEmpty()) {
      return runtime + "/orbitkv";
    }
    try {
      return "/tmp/orbitkv-" + Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    } catch (IOException e) {
      throw new ConfigurationException(
          "registry-directory: this process' user id can not be read from /proc/self ("
              + e
              + "); set --registry-directory",
          e);
    }
  }

  private static <T> T parse(Setting<T> setting, SettingValue value) {
    try {
      return setting.parser().apply(value.text());
    } catch (IllegalArgumentException e) {
      throw value.fault(String.valueOf(e.getMessage()));
    }
  }

  private static Map<String, SettingValue> file(
      Map<String, String> flags, Map<String, String> environment) {
    return Optional.ofNullable(flags.get(CONFIG))
        .or(() -> Optional.ofNullable(environment.get(SettingValue.environmentName(CONFIG))))
        .filter(name -> !name.isEmpty())
        .map(name -> ConfigurationFile.read(Path.of(name)))
        .orElse(Map.of());
  }

  private static Map<String, SettingValue> gather(
      Map<String, String> flags,
      Map<String, String> environment,
      Collection<String> names,
      Map<String, SettingValue> file) {
    Map<String, SettingValue> given = new LinkedHashMap<>();
    for (String name : names) {
      String flag = flags.get(name);
      String variable = environment.get(SettingValue.environmentName(name));
      SettingValue line = file.get(name);
      if (flag != null) {
        given.put(name, SettingValue.flag(name, flag.strip()));
      } else if (variable != null) {
        given.put(name, SettingValue.environment(name, variable.strip()));
      } else if (line != null) {
        given.put(name, line);
      }
    }
    return given;
  }

  private static void checkOwner(SettingValue value, String owner, String backend) {
    if (!owner.equals(backend)) {
      throw new ConfigurationException(
          value.label()
              + ": it is an option of the provider "
              + owner
              + ", but the backend is "
              + backend
              + "; remove it, or set --peer-transfer-backend "
              + owner);
    }
  }

  private static Set<String> settingNames() {
    return Settings.ALL.stream().map(Setting::name).collect(Collectors.toCollection(TreeSet::new));
  }
}
