package io.orbitkv.adapter.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The layouts, byte by byte, and what they make of bytes that are none. */
final class LayoutTest {
  private static final Epoch EPOCH = Epoch.parse("000102030405060708090a0b0c0d0e0f");

  private static String hex(MemorySegment segment) {
    return HexFormat.of().formatHex(segment.toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void theCommandIsAsDocumented() {
    MemorySegment bytes = MemorySegment.ofArray(new byte[Command.BYTES]);
    Command command = new Command(2, 0x8002, 0x1122334455667788L, EPOCH, 3, 0xfffffffeL, 4, 5, -1);
    command.encode(bytes);
    assertThat(hex(bytes))
        .isEqualTo(
            "0200"
                + "0280"
                + "feffffff"
                + "8877665544332211"
                + "000102030405060708090a0b0c0d0e0f"
                + "0300000000000000"
                + "0400000000000000"
                + "0500000000000000"
                + "ffffffffffffffff");
    assertThat(Command.decode(bytes)).isEqualTo(command);
  }

  @Test
  void theFrameHeaderIsAsDocumented() {
    MemorySegment bytes = MemorySegment.ofArray(new byte[FrameHeader.BYTES]);
    FrameHeader header = new FrameHeader(1, 14, 64, FrameHeader.MAGIC, 2, 3, -2, EPOCH);
    header.encode(bytes);
    assertThat(hex(bytes))
        .isEqualTo(
            "0100"
                + "0e00"
                + "40000000"
                + HexFormat.of().formatHex("OKVC".getBytes(StandardCharsets.US_ASCII))
                + "02000000"
                + "0300000000000000"
                + "feffffffffffffff"
                + "000102030405060708090a0b0c0d0e0f");
    assertThat(FrameHeader.decode(bytes)).isEqualTo(header);
  }

  @Test
  void descriptorsComeBackAsTheyWere() {
    List<BlockName> names =
        List.of(
            BlockName.of("", new byte[] {0}),
            BlockName.of("mod\u00e8le", new byte[255]),
            BlockName.of("n".repeat(255), new byte[] {1, 2, 3}));
    assertThat(Names.decode(cursor(Names.encode(names)))).isEqualTo(names);
    List<PublishEntry> pieces =
        names.stream().map(name -> new PublishEntry(name, 1, -1, Long.MAX_VALUE, 4)).toList();
    assertThat(PublishEntry.decode(cursor(PublishEntry.encode(pieces)))).isEqualTo(pieces);
    List<ReadEntry> reads = List.of(new ReadEntry(0xffffffffL, 2, 3, 4, 5, 6));
    assertThat(ReadEntry.decode(cursor(ReadEntry.encode(reads)))).isEqualTo(reads);
    List<PublishStatus> statuses =
        List.of(
            PublishStatus.ok(PublishStatus.STORED),
            PublishStatus.fault(FaultCode.EXHAUSTED, "x".repeat(88)));
    assertThat(PublishStatus.decode(cursor(PublishStatus.encode(statuses)))).isEqualTo(statuses);
    Welcome welcome =
        new Welcome(
            2,
            EPOCH,
            -3,
            63,
            List.of(new Welcome.ArenaOffer(Welcome.READ_ONLY, 4_096)),
            new Welcome.RingOffer(1, 16_912_384),
            new Welcome.PlansOffer(1, 1_249_280, 77),
            new Welcome.ClaimsOffer(1, 8_192));
    assertThat(Welcome.decode(welcome.encode())).isEqualTo(welcome);
  }

  @Test
  void textsAreCutBetweenCharacters() {
    byte[] cut = Text.cut("a" + "\u00e9".repeat(44), Text.RECORD_BYTES);
    assertThat(cut).hasSize(87);
    assertThat(new String(cut, StandardCharsets.UTF_8)).isEqualTo("a" + "\u00e9".repeat(43));
  }

  @Test
  void twoTextsAreNeverReadAsOne() {
    byte[] encoded = Names.encode(List.of(BlockName.of("ab", new byte[] {1})));
    encoded[10] = (byte) 0xff;
    assertThatThrownBy(() -> Names.decode(cursor(encoded)))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("UTF-8");
    BlockName surrogate = BlockName.of("\ud800", new byte[] {1});
    assertThatThrownBy(() -> Names.encode(List.of(surrogate)))
        .isInstanceOf(TransportException.class);
  }

  @Test
  void aCountThatDoesNotFitIsRefusedBeforeRoomIsMade() {
    byte[] encoded = new byte[64];
    for (long count : new long[] {0xffffffffL, Names.LIMIT + 1L, Names.LIMIT, 20}) {
      new Cursor("count", MemorySegment.ofArray(encoded)).putU32(count);
      assertThatThrownBy(() -> Names.decode(cursor(encoded)))
          .isInstanceOf(TransportException.class);
    }
  }

  @Test
  void randomBytesAreRefusedAndNothingElse() {
    long seed = System.nanoTime();
    System.out.println("LayoutTest seed " + seed);
    Random random = new Random(seed);
    List<Consumer<MemorySegment>> decoders =
        List.of(
            bytes -> Names.decode(new Cursor("names", bytes)),
            bytes -> PublishEntry.decode(new Cursor("publish", bytes)),
            bytes -> PublishStatus.decode(new Cursor("statuses", bytes)),
            bytes -> ReadEntry.decode(new Cursor("reads", bytes)),
            Hello::decode,
            Welcome::decode,
            MemoryOffer::decode,
            RegistrationId::decode,
            Refusal::decode,
            Command::decode);
    int refused = 0;
    for (int round = 0; round < 4_000; round++) {
      byte[] bytes = new byte[random.nextInt(120)];
      random.nextBytes(bytes);
      if (bytes.length > 3 && random.nextBoolean()) {
        // A small count leads further in.
        bytes[0] = (byte) random.nextInt(4);
        bytes[1] = 0;
        bytes[2] = 0;
        bytes[3] = 0;
      }
      for (Consumer<MemorySegment> decoder : decoders) {
        try {
          decoder.accept(MemorySegment.ofArray(bytes));
        } catch (TransportException e) {
          assertThat(e.code()).isEqualTo(FaultCode.INVALID);
          refused++;
        }
      }
    }
    assertThat(refused).isGreaterThan(4_000);
  }

  private static Cursor cursor(byte[] bytes) {
    return new Cursor("test", MemorySegment.ofArray(bytes));
  }
}
