package io.orbitkv.manager.config;

/** Where a value came from, in the order in which they win. */
public enum SettingOrigin {
  /** A flag of the command. */
  FLAG,
  /** An environment variable. */
  ENVIRONMENT,
  /** The configuration file. */
  FILE,
  /** Nobody gave a value. */
  DEFAULT
}
