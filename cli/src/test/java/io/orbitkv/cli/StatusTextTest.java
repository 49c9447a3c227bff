package io.orbitkv.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StatusTextTest {
  private static final String STATUS =
      """
      {"epoch": "ab12", "pool": {"capacity_bytes": 2097152, "free_bytes": 100, "holds": 2},
       "uptime_nanos": 2500000000, "ratio": 0.25, "new_field": 7, "big": 123456789012345678901,
       "peers": [{"name": "p1"}, {"name": "p2"}], "empty": [], "none": null, "object": {},
       "holds": [{"kind": "lease", "bytes": 1048576}], "evil": "a\\u001b[2Jb"}
      """;

  @Test
  void flattensWithUnits() {
    assertThat(StatusText.of(STATUS, false).lines().map(line -> line.replaceAll("  +", " = ")))
        .containsExactly(
            "epoch = ab12",
            "pool.capacity_bytes = 2.00 MiB (2097152)",
            "pool.free_bytes = 100 B",
            "pool.holds = 2",
            "uptime_nanos = 2.50 s",
            "ratio = 0.25",
            "new_field = 7",
            "big = 123456789012345678901",
            "peers[0].name = p1",
            "peers[1].name = p2",
            "empty = -",
            "none = -",
            "object = -",
            "holds = 1 (--holds lists them)",
            "evil = a [2Jb");
  }

  @Test
  void listsHoldsWhenAsked() {
    assertThat(StatusText.of(STATUS, true))
        .contains("holds[0].kind")
        .contains("lease")
        .doesNotContain("--holds");
  }
}
