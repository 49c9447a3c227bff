package io.orbitkv.bench;

import org.HdrHistogram.Histogram;

/** What one thread measured. Used by that thread, then by the one that joined it. */
final class LoopTally {
  private static final long MAX_NANOS = 60_000_000_000L;
  private static final int DIGITS = 3;

  final Histogram whole = new Histogram(MAX_NANOS, DIGITS);
  final Histogram prepare = new Histogram(MAX_NANOS, DIGITS);
  final Histogram post = new Histogram(MAX_NANOS, DIGITS);
  final Histogram transfer = new Histogram(MAX_NANOS, DIGITS);
  final Histogram receipt = new Histogram(MAX_NANOS, DIGITS);
  long bytes;
  long errors;
  long elapsedNanos;

  /** Why an operation failed; empty if none did. */
  String failure = "";

  void reset() {
    whole.reset();
    prepare.reset();
    post.reset();
    transfer.reset();
    receipt.reset();
    bytes = 0;
    elapsedNanos = 0;
  }

  /** One operation, nanoseconds. */
  void record(long wholeNanos, long prepareNanos, long postNanos, long receiptNanos) {
    record(whole, wholeNanos);
    record(prepare, prepareNanos);
    record(post, postNanos);
    record(transfer, wholeNanos - prepareNanos - postNanos - receiptNanos);
    record(receipt, receiptNanos);
  }

  private static void record(Histogram histogram, long nanos) {
    histogram.recordValue(Math.clamp(nanos, 0, MAX_NANOS));
  }

  /** Adds another thread's; elapsed time is not added up. */
  void add(LoopTally other) {
    whole.add(other.whole);
    prepare.add(other.prepare);
    post.add(other.post);
    transfer.add(other.transfer);
    receipt.add(other.receipt);
    bytes += other.bytes;
    errors += other.errors;
    failure = failure.isEmpty() ? other.failure : failure;
  }

  double gbps() {
    return elapsedNanos == 0 ? 0 : (double) bytes / elapsedNanos;
  }

  static Sample.Times times(Histogram nanos) {
    return new Sample.Times(
        nanos.getMean() / 1e3,
        nanos.getValueAtPercentile(50) / 1e3,
        nanos.getValueAtPercentile(99) / 1e3,
        nanos.getValueAtPercentile(99.9) / 1e3);
  }
}
