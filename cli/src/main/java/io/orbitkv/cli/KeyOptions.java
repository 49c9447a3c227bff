package io.orbitkv.cli;

import io.orbitkv.adapter.BlockName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The key of a block, and the namespace that it is in. */
final class KeyOptions {
  private static final char UNDECODABLE = '\ufffd';

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      paramLabel = "KEY",
      description =
          "Name of the block. Its UTF-8 bytes are the block's hash; of more than 255 bytes their"
              + " SHA-256 is.")
  private String key = "";

  @Option(
      names = "--namespace",
      paramLabel = "TEXT",
      defaultValue = "cli",
      description = "What keeps names of different uses apart. Default: ${DEFAULT-VALUE}.")
  private String namespace = "";

  /** The key as it was given. */
  String key() {
    return key;
  }

  /** The block's name. */
  BlockName name() {
    try {
      checkDecoded("KEY", key);
      checkDecoded("--namespace", namespace);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
    try {
      return nameOf(namespace, key);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage() + "; choose another", e);
    }
  }

  static BlockName nameOf(String namespace, String key) {
    if (key.isEmpty()) {
      throw new IllegalArgumentException("KEY is empty");
    }
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    return BlockName.of(namespace, bytes.length > BlockName.MAX_HASH_BYTES ? sha256(bytes) : bytes);
  }

  /**
   * Refuses a text that lost bytes when it was decoded: different ones would become one name.
   *
   * @throws IllegalArgumentException naming what the text is
   */
  static void checkDecoded(String what, String text) {
    if (text.indexOf(UNDECODABLE) >= 0) {
      throw new IllegalArgumentException(
          what
              + " '"
              + text
              + "' is not UTF-8, or the locale of this process is not: call it as UTF-8, under"
              + " LC_ALL=C.UTF-8");
    }
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }
}
