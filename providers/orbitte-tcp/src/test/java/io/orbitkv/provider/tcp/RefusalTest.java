package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.Region;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.SourceHold;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the owner refuses, told by bytes that come from outside of this implementation. */
class RefusalTest {
  private static final int DATA = 2;
  private static final int REFUSED = 3;
  private static final int END = 4;

  private final Epoch self = Epoch.random();
  private final Host owner;
  private final Region source;
  private final SourceHold hold;

  RefusalTest() {
    owner = Host.open();
    source = owner.filled(1 << 20, 1);
    hold =
        owner.admit(
            self, Descriptor.of(source.id(), 0, 1_000), Descriptor.of(source.id(), 10_000, 50_000));
  }

  @AfterEach
  void close() {
    owner.close();
  }

  @Test
  void soundReadIsServed() throws IOException {
    try (RawRequester requester = RawRequester.greeted(owner, self)) {
      requester.send(RawRequester.read(77, hold, 1, 49_990, 10));
      RawRequester.Reply reply = requester.reply();
      assertThat(reply).isEqualTo(new RawRequester.Reply(DATA, 0, 77, owner.transport.epoch(), 10));
      byte[] got = requester.in.readNBytes(10);
      byte[] want = new byte[10];
      source.memory().asSlice(59_990, 10).asByteBuffer().get(want);
      assertThat(got).isEqualTo(want);
      requester.send(RawRequester.readStrided(78, hold, 1, 3, 100, 4));
      assertThat(requester.reply().payload()).isEqualTo(12);
    }
  }

  @ParameterizedTest
  @EnumSource
  void readIsRefusedAndTheConnectionGoesOn(Refusal refusal) throws IOException {
    // Guards: Token.matches, the requester's epoch in TcpSourceHold.enter, the bounds in
    // OwnerConnection.resolve and the generation in GrantTable.find: without it DATA comes.
    Epoch sender = refusal == Refusal.OTHER_REQUESTER ? Epoch.random() : self;
    try (RawRequester requester = RawRequester.greeted(owner, sender)) {
      ByteBuffer frame = RawRequester.read(5, hold, 0, 0, 8);
      refusal.change.accept(frame);
      requester.send(frame);
      assertThat(requester.reply())
          .isEqualTo(
              new RawRequester.Reply(REFUSED, refusal.code.wire(), 5, owner.transport.epoch(), 0));
      if (refusal != Refusal.OTHER_REQUESTER) {
        requester.send(RawRequester.read(6, hold, 0, 0, 8));
        assertThat(requester.reply().kind()).isEqualTo(DATA);
      }
    }
  }

  @SuppressWarnings("ImmutableEnumChecker") // The changes are functions without state.
  enum Refusal {
    TOKEN_HIGH(FaultCode.DENIED, frame -> frame.putLong(32, frame.getLong(32) ^ 1)),
    TOKEN_LOW(FaultCode.DENIED, frame -> frame.putLong(40, frame.getLong(40) ^ Long.MIN_VALUE)),
    OTHER_REQUESTER(FaultCode.DENIED, frame -> {}),
    NO_SUCH_GRANT(FaultCode.NOT_FOUND, frame -> frame.putLong(16, Long.MAX_VALUE)),
    OLD_GENERATION(FaultCode.STALE_GENERATION, frame -> frame.putLong(24, 0)),
    NEW_GENERATION(FaultCode.NOT_FOUND, frame -> frame.putLong(24, 2)),
    NO_SUCH_RANGE(FaultCode.INVALID, frame -> frame.putInt(64, 2)),
    BEYOND_THE_RANGE(FaultCode.INVALID, frame -> frame.putLong(72, 993)),
    FAR_BEYOND(FaultCode.INVALID, frame -> frame.putLong(72, 1L << 62));

    private final FaultCode code;
    private final Consumer<ByteBuffer> change;

    Refusal(FaultCode code, Consumer<ByteBuffer> change) {
      this.code = code;
      this.change = change;
    }
  }

  @ParameterizedTest
  @EnumSource
  void hostileFrameEndsTheConnection(Hostile hostile) throws IOException {
    // Guard: each is one check of ReadFrame; without it DATA comes or nothing does. The sum of the
    // entries catches some of them a second time.
    try (RawRequester requester = RawRequester.greeted(owner, self)) {
      ByteBuffer frame =
          hostile.strided
              ? RawRequester.readStrided(5, hold, 0, 4, 8, 2)
              : RawRequester.read(5, hold, 0, 0, 8);
      hostile.change.accept(frame);
      requester.send(frame);
      assertThat(requester.reply())
          .isEqualTo(
              new RawRequester.Reply(END, FaultCode.INVALID.wire(), 0, owner.transport.epoch(), 0));
      assertThat(requester.in.read()).isEqualTo(-1);
    }
    assertThat(owner.context.meter("sent_bytes")).isZero();
  }

  @SuppressWarnings("ImmutableEnumChecker") // The changes are functions without state.
  enum Hostile {
    KIND(false, frame -> frame.put(4, (byte) 9)),
    FLAGS(false, frame -> frame.put(5, (byte) 2)),
    RESERVED(false, frame -> frame.putShort(6, (short) 1)),
    RESERVED_AFTER_ENTRIES(false, frame -> frame.putInt(60, 1)),
    SHORT(false, frame -> frame.putInt(0, 63)),
    LONG(false, frame -> frame.putInt(0, 1 << 30)),
    NEGATIVE(false, frame -> frame.putInt(0, -1)),
    MANY_ENTRIES(false, frame -> frame.putInt(56, 1 << 28)),
    NO_ENTRIES(false, frame -> frame.putInt(56, 0)),
    PAYLOAD_TOO_LARGE(
        true, frame -> frame.putLong(48, 1L << 40).putLong(80, 1L << 39).putLong(88, 1L << 39)),
    PAYLOAD_NEGATIVE(false, frame -> frame.putLong(48, -8)),
    PAYLOAD_MISSED(false, frame -> frame.putLong(48, 9)),
    PAYLOAD_EXCEEDED(false, frame -> frame.putInt(68, 9)),
    EMPTY_ENTRY(false, frame -> frame.putInt(68, 0)),
    OFFSET_NEGATIVE(false, frame -> frame.putLong(72, -1)),
    OFFSET_OVERFLOWS(false, frame -> frame.putLong(72, Long.MAX_VALUE - 3)),
    RANGE_NEGATIVE(false, frame -> frame.putInt(64, -1)),
    STRIDE_OVERLAPS(true, frame -> frame.putLong(88, 3)),
    STRIDE_OVERFLOWS(true, frame -> frame.putLong(88, Long.MAX_VALUE)),
    STRIDE_WRAPS(true, frame -> frame.putLong(48, 12).putInt(68, 3).putLong(88, 1L << 62)),
    COUNT_WRAPS(true, frame -> frame.putLong(80, 1L << 62).putInt(68, 4)),
    COUNT_NEGATIVE(true, frame -> frame.putInt(68, -2)),
    MANY_PIECES(
        true, frame -> frame.putLong(48, 4_096).putInt(68, 4_096).putLong(80, 1).putLong(88, 1));

    private final boolean strided;
    private final Consumer<ByteBuffer> change;

    Hostile(boolean strided, Consumer<ByteBuffer> change) {
      this.strided = strided;
      this.change = change;
    }
  }

  @Test
  void randomBytesNeverGetPayload() throws IOException {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 100; i++) {
      try (RawRequester requester = RawRequester.greeted(owner, self)) {
        ByteBuffer frame = RawRequester.read(5, hold, 0, 0, 8);
        for (int flips = random.nextInt(3) + 1; flips > 0; flips--) {
          // Anywhere but in the length and in what can be another sound request.
          int at = 4 + random.nextInt(2) * 28 + random.nextInt(2);
          frame.put(at, (byte) (frame.get(at) ^ (1 << random.nextInt(8))));
        }
        boolean changed = !frame.equals(RawRequester.read(5, hold, 0, 0, 8));
        requester.send(frame);
        if (changed) {
          assertThat(requester.reply().kind()).isNotEqualTo(DATA);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"version", "feature", "epoch", "anonymous", "magic", "quiesced"})
  void prefaceIsRefused(String what) throws IOException {
    Epoch epoch = owner.transport.epoch();
    // Guard: the epoch's check in OwnerConnection.accept; without it the answer is a welcome.
    byte[] preface =
        switch (what) {
          case "version" -> RawRequester.preface(RawRequester.MAGIC, 2, 0, self, epoch);
          case "feature" -> RawRequester.preface(RawRequester.MAGIC, 1, 8, self, epoch);
          case "epoch" -> RawRequester.preface(RawRequester.MAGIC, 1, 0, self, Epoch.random());
          case "anonymous" -> RawRequester.preface(RawRequester.MAGIC, 1, 0, Epoch.NONE, epoch);
          case "magic" -> RawRequester.preface(7, 1, 0, self, epoch);
          default -> RawRequester.preface(RawRequester.MAGIC, 1, 0, self, epoch);
        };
    FaultCode code =
        switch (what) {
          case "version", "feature" -> FaultCode.UNSUPPORTED;
          case "epoch" -> FaultCode.STALE_EPOCH;
          case "anonymous" -> FaultCode.INVALID;
          default -> FaultCode.CLOSING;
        };
    if (what.equals("quiesced")) {
      owner.transport.quiesce();
    }
    try (RawRequester requester = new RawRequester(owner.transport.endpoint())) {
      requester.out.write(preface);
      byte[] bytes = requester.in.readNBytes(64);
      if (what.equals("magic")) {
        assertThat(bytes).isEmpty();
        return;
      }
      ByteBuffer answer = ByteBuffer.wrap(bytes);
      assertThat(answer.getLong(0)).isEqualTo(RawRequester.MAGIC);
      assertThat(answer.getShort(8)).isEqualTo((short) 1);
      assertThat(answer.getShort(10)).isEqualTo((short) 1);
      assertThat(answer.getShort(12)).isEqualTo((short) code.wire());
      assertThat(answer.getLong(24)).isEqualTo(owner.transport.epoch().high());
      assertThat(requester.in.read()).isEqualTo(-1);
    }
  }

  @Test
  void prefaceThatNeverComesIsNotWaitedForLong() throws IOException {
    try (RawRequester requester = new RawRequester(owner.transport.endpoint())) {
      requester.out.write(RawRequester.preface(RawRequester.MAGIC, 1, 0, self, self), 0, 63);
      assertThat(requester.in.read()).isEqualTo(-1);
      Await.until("no connection", () -> owner.context.meter("incoming_connections") == 0);
    }
  }

  @Test
  void wireFormIsCheckedAtEveryNumber() {
    try (Host requester = Host.open()) {
      SourceHold mine = owner.admitWhole(requester, source);
      Peer peer = requester.connect(owner);
      byte[] sound = mine.wireForm();
      assertThat(peer.importRegion(sound).length(0)).isEqualTo(1 << 20);
      assertThat(peer.importRegion(sound).grant()).isEqualTo(mine.grant());
      for (int length = 0; length < sound.length; length++) {
        assertCode(FaultCode.CORRUPT, peer, Arrays.copyOf(sound, length));
      }
      assertCode(FaultCode.CORRUPT, peer, Arrays.copyOf(sound, sound.length + 8));
      for (int at : new int[] {0, 1, 2, 3, 4, 5, 6, 7}) {
        byte[] wrong = sound.clone();
        wrong[at] ^= 0x40;
        assertCode(FaultCode.CORRUPT, peer, wrong);
      }
      byte[] empty = ByteBuffer.wrap(sound.clone()).putLong(72, 0).array();
      assertCode(FaultCode.CORRUPT, peer, empty);
      byte[] negative = ByteBuffer.wrap(sound.clone()).putLong(72, -5).array();
      assertCode(FaultCode.CORRUPT, peer, negative);
      // Guard: both epochs in TcpPeer.importRegion.
      byte[] otherOwner = ByteBuffer.wrap(sound.clone()).putLong(24, 1).array();
      assertCode(FaultCode.STALE_EPOCH, peer, otherOwner);
      byte[] otherRequester = ByteBuffer.wrap(sound.clone()).putLong(40, 1).array();
      assertCode(FaultCode.STALE_EPOCH, peer, otherRequester);
    }
  }

  @Test
  void grantsOfOneIdAndTwoGenerationsAreTwo() throws IOException {
    GrantId first = owner.grant(1L << 40, 3);
    GrantId second = owner.grant(1L << 40, 4);
    SourceHold older = owner.admit(first, self, Descriptor.of(source.id(), 0, 8));
    SourceHold newer = owner.admit(second, self, Descriptor.of(source.id(), 0, 8));
    older.revoke();
    try (RawRequester requester = RawRequester.greeted(owner, self)) {
      requester.send(RawRequester.read(1, older, 0, 0, 8));
      assertThat(requester.reply().fault()).isEqualTo(FaultCode.GRANT_ENDED.wire());
      assertThat(owner.spend(older)).isNotNull();
      requester.send(RawRequester.read(2, older, 0, 0, 8));
      assertThat(requester.reply().fault()).isEqualTo(FaultCode.STALE_GENERATION.wire());
      requester.send(RawRequester.read(3, newer, 0, 0, 8));
      assertThat(requester.reply().kind()).isEqualTo(DATA);
      assertThat(requester.in.readNBytes(8)).hasSize(8);
      newer.revoke();
      assertThat(owner.spend(newer)).isNotNull();
      requester.send(RawRequester.read(4, newer, 0, 0, 8));
      assertThat(requester.reply().fault()).isEqualTo(FaultCode.GRANT_ENDED.wire());
    }
  }

  private static void assertCode(FaultCode code, Peer peer, byte[] form) {
    assertThatThrownBy(() -> peer.importRegion(form))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }
}
