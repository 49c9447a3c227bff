package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.manager.catalog.Digest;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares fetched blocks with the digests that their owners granted them with, on threads of its
 * own ({@code orbitkv-digest}, as many as there are processors, which end when there is nothing to
 * do), and counts. Thread-safe.
 */
public final class DigestChecks implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DigestChecks.class);
  private static final int SHOWN_HASH_BYTES = 8;
  private static final int SHOWN_NAMESPACE = 64;
  private static final long IDLE_SECONDS = 10;

  private final ExecutorService threads;
  private final LongAdder checked = new LongAdder();
  private final LongAdder mismatches = new LongAdder();
  private final Map<String, LongAdder> mismatchesByOwner = new ConcurrentHashMap<>();

  /** Nothing checked yet. */
  public DigestChecks() {
    this(threads());
  }

  /** As above, with threads that a simulation drives. */
  DigestChecks(ExecutorService threads) {
    this.threads = threads;
  }

  private static ExecutorService threads() {
    int most = Runtime.getRuntime().availableProcessors();
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("orbitkv-digest-", 1).factory());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Runs a check soon, on another thread; false: it will not run, as after {@link #close()}, or if
   * there is no thread to be had.
   */
  boolean submit(Runnable check) {
    AtomicBoolean taken = new AtomicBoolean();
    try {
      threads.execute(
          () -> {
            if (taken.compareAndSet(false, true)) {
              check.run();
            }
          });
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    } catch (RuntimeException | Error e) {
      // It may be queued all the same, so it is taken back; unless it runs already.
      boolean mine = taken.compareAndSet(false, true);
      LOG.error("a digest can not be checked now: {}; see to threads and memory", e.toString());
      return !mine;
    }
  }

  /**
   * Compares one block.
   *
   * @param owner control address of the Manager that it was read from
   * @param bytes of the block; nothing can write them any more
   */
  boolean matches(String owner, BlockName name, MemorySegment bytes, Digest expected) {
    boolean same = Digest.of(bytes).equals(expected);
    checked.increment();
    if (!same) {
      mismatches.increment();
      mismatchesByOwner.computeIfAbsent(owner, _ -> new LongAdder()).increment();
      LOG.warn(
          "digest mismatch: {} bytes of block {} from {} are not what was published; they are not"
              + " stored. If it repeats, check that host's memory and the network to it",
          bytes.byteSize(),
          shortened(name),
          owner);
    }
    return same;
  }

  /** Blocks that were compared. */
  public long checked() {
    return checked.sum();
  }

  /** Those of them that were not what was published. */
  public long mismatches() {
    return mismatches.sum();
  }

  /** The same by the control address of the Manager that they were read from. */
  public Map<String, LongAdder> mismatchesByOwner() {
    return new TreeMap<>(mismatchesByOwner);
  }

  /** Takes no more; what was taken runs to its end. */
  @Override
  public void close() {
    threads.shutdown();
  }

  private static String shortened(BlockName name) {
    String namespace = name.namespace();
    String hash = HexFormat.of().formatHex(name.hash());
    int digits = Math.min(hash.length(), 2 * SHOWN_HASH_BYTES);
    return namespace.substring(0, Math.min(namespace.length(), SHOWN_NAMESPACE))
        + "/"
        + hash.substring(0, digits)
        + (digits < hash.length() ? ".." : "");
  }
}
