package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replies that are compared with what their source has. */
class ChecksumTest {
  private static final int BYTES = 1 << 20;

  /** Behind the owner's preface and the header of its first reply. */
  private static final int CHANGED = 500_000;

  private static final int AHEAD = Wire.PREFACE_BYTES + Wire.REPLY_HEADER_BYTES;

  @ParameterizedTest
  @ValueSource(strings = {"copy", "sendfile"})
  void aByteThatChangedOnTheWayFailsTheTicketAndItsConnection(String source) throws IOException {
    try (Host owner = Host.open("source", source);
        Proxy proxy = new Proxy(owner.transport);
        Host requester = Host.open("connections", "1", "checksum", "crc32c")) {
      Reads reads = new Reads(owner, requester, proxy);
      proxy.change(AHEAD + CHANGED);
      // Guard: ReplyReader.compare; without it the ticket completes.
      assertThat(reads.read())
          .isInstanceOfSatisfying(
              Outcome.Failed.class,
              failed -> {
                assertThat(failed.code()).isEqualTo(FaultCode.CORRUPT);
                assertThat(failed.message()).contains("CRC32C");
              });
      Await.until("down", () -> requester.context.meter("connection_failures") == 1);
      assertThat(reads.read()).isEqualTo(Outcome.COMPLETED);
      assertThat(reads.target.memory().mismatch(reads.source.memory())).isEqualTo(-1);
    }
  }

  @Test
  void nothingIsComparedUnlessTheRequesterAsksForIt() throws IOException {
    try (Host owner = Host.open("checksum", "crc32c");
        Proxy proxy = new Proxy(owner.transport);
        Host requester = Host.open("connections", "1")) {
      Reads reads = new Reads(owner, requester, proxy);
      proxy.change(AHEAD + CHANGED);
      assertThat(reads.read()).isEqualTo(Outcome.COMPLETED);
      assertThat(reads.target.memory().mismatch(reads.source.memory())).isEqualTo(CHANGED);
    }
  }

  @Test
  void theChecksumIsOfTheSourcesMemoryAndFollowsThePayload() throws IOException {
    try (Host owner = Host.open()) {
      Epoch self = Epoch.random();
      Region source = owner.filled(BYTES, 9);
      SourceHold hold = owner.admit(self, Descriptor.of(source.id(), 0, BYTES));
      try (RawRequester requester = RawRequester.saying(owner, self, 4)) {
        // 3 pieces of 100 bytes, 1,000 apart.
        requester.send(RawRequester.readStrided(1, hold, 50, 100, 1_000, 3));
        assertThat(requester.reply().payload()).isEqualTo(300);
        CRC32C sum = new CRC32C();
        sum.update(requester.in.readNBytes(300));
        ByteBuffer behind = ByteBuffer.wrap(requester.in.readNBytes(8));
        assertThat(behind.getInt(0)).isEqualTo((int) sum.getValue());
        assertThat(behind.getInt(4)).isZero();
        CRC32C own = new CRC32C();
        for (int i = 0; i < 3; i++) {
          own.update(source.memory().asSlice(50 + i * 1_000L, 100).toArray(ValueLayout.JAVA_BYTE));
        }
        assertThat(own.getValue()).isEqualTo(sum.getValue());
      }
      hold.revoke();
      assertThat(owner.spend(hold)).isEqualTo(Evidence.LOCAL_QUIESCED);
    }
  }

  @Test
  void anotherValueIsRefused() {
    assertThatThrownBy(() -> Host.open("checksum", "md5"))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("orbitte-tcp-checksum")
        .hasMessageContaining("off or crc32c");
  }

  private static final class Reads {
    private final Host requester;
    private final Peer peer;
    private final SourceHold hold;
    final Region source;
    final Region target;

    Reads(Host owner, Host requester, Proxy proxy) {
      this.requester = requester;
      source = owner.filled(BYTES, 9);
      target = requester.registered(BYTES);
      hold = owner.admitWhole(requester, source);
      peer = requester.transport.connect(proxy.endpoint(), owner.transport.epoch(), new byte[0]);
    }

    Outcome read() {
      Ticket ticket =
          requester.read(
              peer,
              Batch.from(peer.importRegion(hold.wireForm()))
                  .add(Descriptor.of(target.id(), 0, BYTES), RemoteDescriptor.of(0, 0, BYTES))
                  .build());
      Outcome outcome = Host.outcome(ticket);
      requester.spend(ticket);
      return outcome;
    }
  }
}
