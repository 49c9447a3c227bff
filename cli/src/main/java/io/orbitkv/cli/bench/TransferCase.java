package io.orbitkv.cli.bench;

import java.util.Locale;

/** The cases that have a name. */
public enum TransferCase {
  /** Blocks of 1 MiB to 64 MiB. */
  LARGE,
  /** 1,000 blocks at once, scattered and strided. */
  SCATTERED,
  /** One block of 4 to 64 KiB; and what both ends use when idle. */
  SMALL,
  /** One small block while another thread reads large batches from the same peer. */
  MIXED,
  /** Eight requesters of one source. */
  FAN_IN,
  /** Grant, read and receipt, by two Managers. */
  WHOLE_PATH;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
