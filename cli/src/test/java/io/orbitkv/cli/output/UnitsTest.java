package io.orbitkv.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnitsTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "1023, 1023 B",
    "1024, 1.00 KiB",
    "1536, 1.50 KiB",
    "917504, 896 KiB",
    "10485760, 10.0 MiB",
    "1073217535, 1023 MiB",
    "1073741823, 1.00 GiB",
    "1073741824, 1.00 GiB",
    "2147483648, 2.00 GiB",
    "9223372036854775807, 8.00 EiB",
    "-2048, -2.00 KiB",
  })
  void bytes(long bytes, String text) {
    assertThat(Units.bytes(bytes)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"999, 999 ns", "1500, 1.50 us", "12345678, 12.3 ms", "2500000000, 2.50 s"})
  void nanos(long nanos, String text) {
    assertThat(Units.nanos(nanos)).isEqualTo(text);
  }

  @Test
  void theLocaleDoesNotMatter() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.GERMANY);
    try {
      assertThat(Units.percent(0.3664)).isEqualTo("36.6 %");
      assertThat(Units.count(288_500)).isEqualTo("288,500");
      assertThat(Units.rate(2.314)).isEqualTo("2.31 GB/s");
    } finally {
      Locale.setDefault(before);
    }
  }
}
