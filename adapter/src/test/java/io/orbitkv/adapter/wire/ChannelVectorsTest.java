package io.orbitkv.adapter.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.restore.EngineState;
import io.orbitkv.adapter.restore.ManagerState;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import java.io.IOException;
import java.io.Reader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/**
 * The bytes of the channel that the clients of all languages agree on, in a file that each of them
 * reads. Guard: the file itself; a digit of it that is changed makes this test and the Python
 * client's red.
 */
final class ChannelVectorsTest {
  private static final Path FILE =
      Path.of("..", "docs", "protocol", "channel-vectors.properties").toAbsolutePath();
  private static final Epoch EPOCH = Epoch.parse("000102030405060708090a0b0c0d0e0f");
  private static final List<BlockName> NAMES =
      List.of(
          BlockName.of("", new byte[] {0}),
          BlockName.of("mod\u00e8le", upTo(32)),
          BlockName.of("n".repeat(255), new byte[] {1, 2, 3}));
  private static final List<PublishEntry> PIECES =
      NAMES.stream().map(name -> new PublishEntry(name, 1, 2, 4_096, 8_192)).toList();
  private static final List<ReadEntry> BLOCKS =
      List.of(
          new ReadEntry(0xffffffffL, 2, 3, 4, 5, 6),
          new ReadEntry(0, 1, 0, 1L << 40, 1L << 21, Long.MAX_VALUE));
  private static final List<PublishStatus> RESULTS =
      List.of(
          PublishStatus.ok(PublishStatus.STORED),
          PublishStatus.ok(PublishStatus.PRESENT),
          PublishStatus.fault(FaultCode.EXHAUSTED, "x".repeat(88)));
  private static final FrameHeader HEADER =
      new FrameHeader(2, 4, 24, FrameHeader.MAGIC, 1, 3, -2, EPOCH);
  private static final Command COMMAND =
      new Command(2, 0x8002, 0x1122334455667788L, EPOCH, 64, 0xfffffffeL, 4, 5, -1);
  private static final Refusal REFUSAL = new Refusal(FaultCode.EXHAUSTED, "no room \u00e8");
  private static final MemoryOffer OFFER =
      new MemoryOffer(MemoryOffer.HOST_SHARED, 4_096, 1L << 40);
  private static final RegistrationId REGISTRATION = new RegistrationId(9, -1);

  @Test
  void isEncodedToTheBytesOfTheFile() throws IOException {
    Map<String, String> made = new LinkedHashMap<>();
    MemorySegment header = MemorySegment.ofArray(new byte[FrameHeader.BYTES]);
    HEADER.encode(header);
    made.put("frame.header", hex(header));
    made.put("frame.refused", hex(REFUSAL.encode()));
    made.put("frame.register", hex(OFFER.encode()));
    made.put("frame.registered", hex(REGISTRATION.encode()));
    MemorySegment command = MemorySegment.ofArray(new byte[Command.BYTES]);
    COMMAND.encode(command);
    made.put("command", hex(command));
    made.put("names", hex(Names.encode(NAMES)));
    made.put("pieces", hex(PublishEntry.encode(PIECES)));
    made.put("blocks", hex(ReadEntry.encode(BLOCKS)));
    made.put("results", hex(PublishStatus.encode(RESULTS)));
    made.put("word.granted", word(ManagerState.GRANTED.word(7)));
    made.put("word.revoked", word(ManagerState.REVOKED.word(7)));
    made.put("word.reaped", word(ManagerState.REAPED.word(7)));
    made.put("word.active", word(EngineState.ACTIVE.word(7)));
    made.put("word.part-drained", word(EngineState.PART_DRAINED.word(7)));
    made.put("word.drained", word(EngineState.DRAINED.word(7)));
    made.put("word.failed", word(EngineState.FAILED.word((1L << 56) - 1)));
    Map<String, String> known = file();
    made.forEach((name, bytes) -> assertThat(bytes).as(name).isEqualTo(known.get(name)));
    List<String> decodedOnly = new ArrayList<>(known.keySet());
    decodedOnly.removeAll(made.keySet());
    assertThat(decodedOnly).containsExactlyInAnyOrder("frame.hello", "frame.welcome");
  }

  @Test
  void isDecodedFromTheBytesOfTheFile() throws IOException {
    Map<String, String> known = file();
    assertThat(FrameHeader.decode(bytes(known, "frame.header"))).isEqualTo(HEADER);
    assertThat(Refusal.decode(bytes(known, "frame.refused"))).isEqualTo(REFUSAL);
    assertThat(MemoryOffer.decode(bytes(known, "frame.register"))).isEqualTo(OFFER);
    assertThat(RegistrationId.decode(bytes(known, "frame.registered"))).isEqualTo(REGISTRATION);
    assertThat(Command.decode(bytes(known, "command"))).isEqualTo(COMMAND);
    assertThat(Names.decode(cursor(known, "names"))).isEqualTo(NAMES);
    assertThat(PublishEntry.decode(cursor(known, "pieces"))).isEqualTo(PIECES);
    assertThat(ReadEntry.decode(cursor(known, "blocks"))).isEqualTo(BLOCKS);
    assertThat(PublishStatus.decode(cursor(known, "results"))).isEqualTo(RESULTS);
    Hello hello = Hello.decode(bytes(known, "frame.hello"));
    assertThat(hello.instance()).isEqualTo("engine-\u00e8");
    assertThat(hello.role()).isEqualTo(2);
    Welcome welcome = Welcome.decode(bytes(known, "frame.welcome"));
    assertThat(welcome.epoch()).isEqualTo(EPOCH);
    assertThat(welcome.session()).isEqualTo(-3);
    assertThat(welcome.slot()).isEqualTo(63);
    assertThat(welcome.arenas())
        .containsExactly(new Welcome.ArenaOffer(1, 4_096), new Welcome.ArenaOffer(1, 1L << 40));
    assertThat(welcome.ring()).isEqualTo(new Welcome.RingOffer(1, 16_912_384));
  }

  private static Map<String, String> file() throws IOException {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(FILE, StandardCharsets.US_ASCII)) {
      properties.load(reader);
    }
    Map<String, String> known = new LinkedHashMap<>();
    properties.stringPropertyNames().forEach(name -> known.put(name, properties.getProperty(name)));
    return known;
  }

  private static Cursor cursor(Map<String, String> known, String name) {
    return new Cursor(name, bytes(known, name));
  }

  private static MemorySegment bytes(Map<String, String> known, String name) {
    return MemorySegment.ofArray(HexFormat.of().parseHex(known.getOrDefault(name, "")));
  }

  private static String word(long value) {
    MemorySegment word = MemorySegment.ofArray(new long[1]);
    word.set(ValueLayout.JAVA_LONG, 0, value);
    return hex(word);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static String hex(MemorySegment segment) {
    return hex(segment.toArray(ValueLayout.JAVA_BYTE));
  }

  private static byte[] upTo(int count) {
    byte[] bytes = new byte[count];
    for (int i = 0; i < count; i++) {
      bytes[i] = (byte) i;
    }
    return bytes;
  }
}
