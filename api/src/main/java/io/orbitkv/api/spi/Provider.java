package io.orbitkv.api.spi;

import io.orbitkv.api.Capabilities;
import java.util.List;
import java.util.Map;

/**
 * The entry point of a plugin. One public class with a public no-argument constructor that does
 * nothing: everything costly waits for {@code open}. A provider that moves bytes between hosts is a
 * {@link TransportProvider}; one that copies between host and device a {@link DmaProvider}.
 */
public sealed interface Provider permits TransportProvider, DmaProvider {
  /** The name that {@code --peer-transfer-backend} picks it by; lower case letters, digits, '-'. */
  String name();

  /** The provider's own version, for people. */
  String version();

  /** The version of these interfaces that it was built for. */
  SpiVersion spiVersion();

  /** The options that it understands, in the order in which help prints them. */
  List<OptionSpec> options();

  /**
   * What it binds itself to under these options, before it is opened.
   *
   * @param options by full name; options that are absent have their default
   * @throws io.orbitkv.api.TransportException INVALID if a value is not acceptable
   */
  Capabilities capabilities(Map<String, String> options);

  /**
   * Whether it works on this machine. Has no lasting effect, throws nothing, and takes less than a
   * second.
   *
   * @param options as for {@link #capabilities}
   */
  Probe probe(Map<String, String> options);
}
