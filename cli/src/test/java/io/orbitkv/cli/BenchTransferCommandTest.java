package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchTransferCommandTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--case fast|--case fast: there is none; choose from [large, scattered, small, mixed,",
        "--baseline rust|--baseline rust: there is none; give auto, c, java or none",
        "--block-bytes 4097|a block of 4097 bytes; give a multiple of 8",
        "--block-bytes 4KiB --batch 20000|a batch of 20000 blocks; give 1 to 16384",
        "--block-bytes 4KiB --threads 65|65 threads; give 1 to 64",
        "--block-bytes 4KiB --stride-bytes 6KiB|a stride of 6144 bytes; give a multiple",
        "--block-bytes 8MiB --threads 8 --pool-bytes 32MiB|--pool-bytes: a pool of 33554432 bytes has no room",
        "--provider nope|provider nope: no plugin has it",
        "--seconds 0|--seconds takes 0.01 to 3600",
        "--rounds 0|--rounds 1 or more",
      })
  void mistakeIsToldInOneLineBeforeAnythingIsStarted(String options, String told) {
    CommandRun run = CommandRun.of(("bench transfer " + options).split(" ", -1));

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).startsWith("orbitkv: ").contains(told);
  }
}
