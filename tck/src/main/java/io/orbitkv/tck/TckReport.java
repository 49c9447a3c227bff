package io.orbitkv.tck;

import io.orbitkv.api.spi.SpiVersion;
import java.util.List;

/**
 * What a run of the kit found.
 *
 * @param provider the provider's name
 * @param providerVersion its own version
 * @param spiVersion the SPI version that it was built for
 * @param rows a row a test, in the order in which they ended
 */
public record TckReport(
    String provider, String providerVersion, SpiVersion spiVersion, List<TckRow> rows) {
  /** Copies the rows. */
  public TckReport {
    rows = List.copyOf(rows);
  }

  /** How many tests ended so. */
  public long count(TckRow.Result result) {
    return rows.stream().filter(row -> row.result() == result).count();
  }

  /** Whether there were tests, and each passed or was declined with a reason. */
  public boolean passed() {
    return count(TckRow.Result.PASSED) > 0 && count(TckRow.Result.FAILED) == 0;
  }

  /** The rows that ended so. */
  public List<TckRow> rows(TckRow.Result result) {
    return rows.stream().filter(row -> row.result() == result).toList();
  }
}
