package io.orbitkv.api.spi;

/**
 * Version of these interfaces. A provider works with a Manager of the same major version whose
 * minor version is at least its own.
 *
 * @param major raised when something is removed or changes its meaning
 * @param minor raised when something is added
 */
public record SpiVersion(int major, int minor) {
  /** The version of the interfaces in this jar. */
  public static final SpiVersion CURRENT = new SpiVersion(1, 0);

  /** Whether a provider built for {@code provider} works with a Manager of this version. */
  public boolean supports(SpiVersion provider) {
    return provider.major == major && provider.minor <= minor;
  }

  /**
   * Parses {@code major.minor}.
   *
   * @throws IllegalArgumentException if the text is anything else
   */
  public static SpiVersion parse(String text) {
    String[] parts = text.split("\\.", -1);
    if (parts.length == 2) {
      try {
        return new SpiVersion(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("SPI version '" + text + "' is not MAJOR.MINOR", e);
      }
    }
    throw new IllegalArgumentException("SPI version '" + text + "' is not MAJOR.MINOR");
  }

  @Override
  public String toString() {
    return major + "." + minor;
  }
}
