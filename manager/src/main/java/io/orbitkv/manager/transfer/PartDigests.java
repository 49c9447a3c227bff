package io.orbitkv.manager.transfer;

import io.orbitkv.manager.catalog.Digest;
import io.orbitkv.manager.memory.Hold;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The digests that the blocks of one part must have. Filled before its first ticket. */
final class PartDigests {
  private static final Logger LOG = LoggerFactory.getLogger(PartDigests.class);

  private final DigestChecks checks;
  private final String owner;
  private final Map<WantedBlock, Digest> expected = new HashMap<>();

  PartDigests(DigestChecks checks, String owner) {
    this.checks = checks;
    this.owner = owner;
  }

  void expect(WantedBlock block, @Nullable Digest digest) {
    if (digest != null) {
      expected.put(block, digest);
    }
  }

  /** What the owner said; null if it said nothing. */
  @Nullable Digest of(WantedBlock block) {
    return expected.get(block);
  }

  boolean isEmpty() {
    return expected.isEmpty();
  }

  /** The blocks that are not what was published. What can not be compared is one of them. */
  Set<WantedBlock> mismatched(Map<WantedBlock, Hold> memory) {
    Set<WantedBlock> bad = new HashSet<>(expected.keySet());
    try {
      expected.forEach(
          (block, digest) -> {
            Hold hold = memory.get(block);
            if (hold != null
                && checks.matches(owner, block.name(), hold.allocation().memory(), digest)) {
              bad.remove(block);
            }
          });
    } catch (RuntimeException | Error e) {
      LOG.error("blocks from {} could not be compared with their digests", owner, e);
    }
    return bad;
  }

  /** All that have a digest. */
  Set<WantedBlock> all() {
    return Set.copyOf(expected.keySet());
  }
}
