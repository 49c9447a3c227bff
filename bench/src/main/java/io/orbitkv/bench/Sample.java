package io.orbitkv.bench;

import java.util.List;

/**
 * One measurement. Times are of one operation, microseconds.
 *
 * @param contender who was measured
 * @param batch blocks in one operation
 * @param gbps payload, 1e9 bytes a second, all threads together
 * @param whole from the choice of the blocks to the receipt; of the baseline to the last byte
 * @param prepare making the batch: descriptors checked against registration and grant; if {@link
 *     LoopShape} says nothing else, the grant itself was taken before
 * @param post the submitting call
 * @param transfer from the return of that call to the outcome
 * @param receipt from the outcome to the spent drain receipt
 * @param cpuSecondsPerGb processor time of both ends, seconds for 1e9 bytes
 * @param ownerShare the owner's part of that, 0 to 1
 * @param operations how many were measured
 * @param errors operations that failed, or brought a wrong byte
 * @param threadGbps what each thread moved
 * @param failure why the last failed operation did; empty if none did
 * @param congestion the congestion control in force; empty if it is not known
 */
public record Sample(
    String contender,
    int batch,
    double gbps,
    Times whole,
    Times prepare,
    Times post,
    Times transfer,
    Times receipt,
    double cpuSecondsPerGb,
    double ownerShare,
    long operations,
    long errors,
    String failure,
    List<Double> threadGbps,
    String congestion) {
  /**
   * A distribution, microseconds.
   *
   * @param mean average
   * @param p50 median
   * @param p99 99th percentile
   * @param p999 99.9th percentile
   */
  public record Times(double mean, double p50, double p99, double p999) {
    /** What the baseline does not have. */
    public static final Times NONE = new Times(0, 0, 0, 0);
  }

  /** Copies the list. */
  public Sample {
    threadGbps = List.copyOf(threadGbps);
  }
}
