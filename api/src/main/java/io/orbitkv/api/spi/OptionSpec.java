package io.orbitkv.api.spi;

/**
 * One option of a provider.
 *
 * @param name full name without the leading dashes; begins with the provider's name and a dash, as
 *     in {@code orbitte-tcp-connections}
 * @param valueLabel what the value is, for help, as in {@code N} or {@code IP}
 * @param defaultValue the value that is used when it is absent; may be empty
 * @param description one line, with the unit
 */
public record OptionSpec(String name, String valueLabel, String defaultValue, String description) {}
