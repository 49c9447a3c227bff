package io.orbitkv.manager.config;

/** A configuration that can not be used: one line that names the setting, the cause and the fix. */
public final class ConfigurationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A fault without an underlying exception. */
  public ConfigurationException(String message) {
    super(message);
  }

  /** A fault caused by another exception. */
  public ConfigurationException(String message, Throwable cause) {
    super(message, cause);
  }
}
