package io.orbitkv.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValuesTest {
  private static final RegionId REGION = new RegionId(0, 1);

  private static final RemoteRegion SOURCE =
      new RemoteRegion() {
        @Override
        public GrantId grant() {
          return new GrantId(1, 1, Epoch.NONE);
        }

        @Override
        public int ranges() {
          return 1;
        }

        @Override
        public long length(int range) {
          return 100;
        }
      };

  @ParameterizedTest
  @CsvSource({
    "-1, 1, 1, 1",
    "0, -1, 1, 1",
    "0, 1, 1, 0",
    "0, 8, 4, 2",
    "0, 4611686018427387904, 4611686018427387904, 2",
    "9223372036854775807, 1, 1, 1",
    "0, 2, 4611686018427387904, 3"
  })
  void aSpanThatIsNoneIsRefused(long offset, long length, long stride, int count) {
    assertThatThrownBy(() -> new Descriptor(REGION, offset, length, stride, count))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RemoteDescriptor(0, offset, length, stride, count))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aStridedDescriptorCountsItsPiecesAndItsEnd() {
    Descriptor descriptor = new Descriptor(REGION, 10, 4, 16, 3);
    assertThat(descriptor.bytes()).isEqualTo(12);
    assertThat(descriptor.end()).isEqualTo(10 + 2 * 16 + 4);
  }

  @Test
  void aBatchStaysInsideWhatWasGranted() {
    Batch.Builder batch = Batch.from(SOURCE);
    assertThatThrownBy(() -> batch.add(Descriptor.of(REGION, 0, 8), RemoteDescriptor.of(0, 93, 8)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> batch.add(Descriptor.of(REGION, 0, 8), RemoteDescriptor.of(1, 0, 8)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> batch.add(Descriptor.of(REGION, 0, 7), RemoteDescriptor.of(0, 0, 8)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(batch::build).isInstanceOf(IllegalArgumentException.class);
    batch.add(Descriptor.of(REGION, 0, 8), RemoteDescriptor.of(0, 92, 8));
    assertThat(batch.build().bytes()).isEqualTo(8);
  }

  @Test
  void anEpochKeepsItsTextAndBinaryForm() {
    Epoch epoch = Epoch.random();
    assertThat(Epoch.parse(epoch.toString())).isEqualTo(epoch);
    ByteBuffer buffer = ByteBuffer.allocate(Epoch.BYTES);
    epoch.write(buffer);
    assertThat(Epoch.read(buffer.flip())).isEqualTo(epoch);
    assertThatThrownBy(() -> Epoch.parse("12")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aFaultCodeOfANewerPeerIsUnknown() {
    assertThat(FaultCode.ofWire(9_999)).isEqualTo(FaultCode.UNKNOWN);
    assertThat(FaultCode.ofWire(-1)).isEqualTo(FaultCode.UNKNOWN);
    for (FaultCode code : FaultCode.values()) {
      assertThat(FaultCode.ofWire(code.wire())).isEqualTo(code);
    }
  }

  @Test
  void evidenceOfANewerPeerProvesNothing() {
    assertThatThrownBy(() -> Evidence.ofWire(99)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aDrainedTicketStaysDrained() {
    for (TicketState next : TicketState.values()) {
      assertThat(TicketState.DRAINED.canBecome(next)).isFalse();
      assertThat(next.canBecome(TicketState.POSTED)).isFalse();
    }
    assertThat(TicketState.POSTED.canBecome(TicketState.DRAINED)).isFalse();
  }

  @Test
  void aClosedRegistrationStaysClosedAndARevokedOneRevoked() {
    for (RegistrationState next : RegistrationState.values()) {
      assertThat(RegistrationState.CLOSED.canBecome(next)).isFalse();
      assertThat(next.canBecome(RegistrationState.REGISTERED)).isFalse();
      assertThat(next.canBecome(next)).isFalse();
    }
    assertThat(RegistrationState.REGISTERED.canBecome(RegistrationState.CLOSED)).isTrue();
    assertThat(RegistrationState.REVOKED.canBecome(RegistrationState.CLOSED)).isTrue();
  }
}
