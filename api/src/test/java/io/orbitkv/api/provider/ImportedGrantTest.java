package io.orbitkv.api.provider;

import static io.orbitkv.api.provider.TwoEnds.codeOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class ImportedGrantTest {
  private static final int RANGES_AT = 48;

  private final TwoEnds ends = new TwoEnds();
  private final GatedHold hold;
  private final byte[] wire;

  ImportedGrantTest() {
    Region memory = TwoEnds.region(Permission.READ);
    var _ = ends.owner.register(memory);
    hold = ends.admit(memory, () -> {});
    wire = hold.wireForm();
  }

  // Guard: GatedHold has no toString of its secret, nor has ImportedGrant.
  @Test
  void saysWhatWasGrantedAndPrintsNoSecret() {
    ImportedGrant grant = ImportedGrant.read(wire, ends.peer);
    assertThat(grant.grant()).isEqualTo(hold.grant());
    assertThat(grant.ranges()).isEqualTo(1);
    assertThat(grant.length(0)).isEqualTo(TwoEnds.BYTES);
    String secret = HexFormat.of().formatHex(grant.secret());
    assertThat(HexFormat.of().formatHex(wire)).contains(secret);
    assertThat(grant + " " + hold).doesNotContain(secret);
  }

  // Guards: each condition of ImportedGrant.read, and its catch.
  @Test
  void whatIsMalformedOrOfAnotherIncarnationIsRefused() {
    for (int bytes = 0; bytes < wire.length; bytes++) {
      byte[] cut = Arrays.copyOf(wire, bytes);
      assertThat(codeOf(() -> ImportedGrant.read(cut, ends.peer)))
          .as("cut to %d bytes", bytes)
          .isEqualTo(FaultCode.CORRUPT);
    }
    byte[] none = Arrays.copyOf(with(RANGES_AT, 0), RANGES_AT + Long.BYTES);
    assertThat(codeOf(() -> ImportedGrant.read(none, ends.peer))).isEqualTo(FaultCode.CORRUPT);
    for (long ranges : new long[] {0, 2, -1, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertThat(codeOf(() -> ImportedGrant.read(with(RANGES_AT, ranges), ends.peer)))
          .as("%d ranges", ranges)
          .isEqualTo(FaultCode.CORRUPT);
    }
    for (long length : new long[] {0, -1, Long.MIN_VALUE}) {
      assertThat(codeOf(() -> ImportedGrant.read(with(RANGES_AT + 8, length), ends.peer)))
          .as("a range of %d bytes", length)
          .isEqualTo(FaultCode.CORRUPT);
    }
    assertThat(codeOf(() -> ImportedGrant.read(wire, new TwoEnds().peer)))
        .isEqualTo(FaultCode.STALE_EPOCH);
  }

  private byte[] with(int at, long value) {
    byte[] changed = wire.clone();
    ByteBuffer.wrap(changed).putLong(at, value);
    return changed;
  }

  // Guard: the comparison of peers in ImportedGrant.of.
  @Test
  void batchOfAnotherPeerIsRefused() {
    ImportedGrant grant = ImportedGrant.read(wire, ends.peer);
    Batch batch = TwoEnds.batch(grant, TwoEnds.region(Permission.READ_WRITE).id(), 0, 8);
    assertThat(ImportedGrant.of(batch, ends.peer)).isSameAs(grant);
    assertThat(codeOf(() -> ImportedGrant.of(batch, new TwoEnds().peer)))
        .isEqualTo(FaultCode.INVALID);
  }
}
