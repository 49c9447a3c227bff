package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class KeyOptionsTest {
  @Test
  void aKeyIsItsBytesAndALongOneItsDigest() {
    String long255 = "k".repeat(255);

    assertThat(KeyOptions.nameOf("cli", "key").hash())
        .isEqualTo("key".getBytes(StandardCharsets.UTF_8));
    assertThat(KeyOptions.nameOf("cli", long255).hash())
        .isEqualTo(long255.getBytes(StandardCharsets.UTF_8));
    // printf 'a%.0s' $(seq 256) | sha256sum
    assertThat(HexFormat.of().formatHex(KeyOptions.nameOf("cli", "a".repeat(256)).hash()))
        .isEqualTo("02d7160d77e18c6447be80c2e355c7ed4388545271702c50253b0914c65ce5fe");
    assertThat(KeyOptions.nameOf("x", "key")).isNotEqualTo(KeyOptions.nameOf("cli", "key"));
  }

  @Test
  void anEmptyKeyIsRefused() {
    assertThatThrownBy(() -> KeyOptions.nameOf("cli", ""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("KEY is empty");
  }
}
