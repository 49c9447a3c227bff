package io.orbitkv.manager.control;

import io.orbitkv.api.GrantId;
import io.orbitkv.manager.catalog.Digest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The owner's permission.
 *
 * @param grant its name
 * @param ranges what range {@code i} of the grant is, in order; blocks that the owner no longer
 *     has, and those beyond what its limits allow now, are left out
 * @param lifetimeNanos after this long the owner retires the token by itself
 * @param wireForm the provider's opaque bytes; a secret, never logged
 */
@SuppressWarnings("ArrayRecordComponent") // opaque bytes, written once, never compared
public record GrantOffer(
    GrantId grant, List<GrantedRange> ranges, long lifetimeNanos, byte[] wireForm) {
  /** Copies the list. */
  public GrantOffer {
    ranges = List.copyOf(ranges);
  }

  /**
   * One granted block.
   *
   * @param nameIndex which name of the request
   * @param bytes its length
   * @param digest what its bytes must add up to; null if none was taken when it was published
   */
  public record GrantedRange(int nameIndex, long bytes, @Nullable Digest digest) {
    /** Without a digest. */
    public GrantedRange(int nameIndex, long bytes) {
      this(nameIndex, bytes, null);
    }
  }
}
