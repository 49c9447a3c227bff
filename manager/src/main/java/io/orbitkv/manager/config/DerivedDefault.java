package io.orbitkv.manager.config;

/** Shows what a default will be that is not a text of its own. */
final class DerivedDefault {
  private static final String AT_START = "derived at start";

  private DerivedDefault() {}

  /** The value as it is, unless it is such a default. */
  static SettingValue shown(SettingValues values, SettingValue value) {
    if (value.isGiven()) {
      return value;
    }
    if (value.name().equals(Settings.ADVERTISE.name())) {
      return SettingValue.ofDefault(value.name(), values.value(Settings.HOST).text());
    }
    if (value.name().equals(Settings.SOCKET.name())) {
      int port = values.get(Settings.PORT);
      return SettingValue.ofDefault(
          value.name(),
          port == 0
              ? AT_START
              : ManagerConfiguration.defaultSocket(IpLiteral.text(values.get(Settings.HOST)), port)
                  .toString());
    }
    return value;
  }
}
