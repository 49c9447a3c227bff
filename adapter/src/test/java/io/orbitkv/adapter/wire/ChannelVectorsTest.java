package io.orbitkv.adapter.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.plan.PlanBlock;
import io.orbitkv.adapter.plan.PlanHeader;
import io.orbitkv.adapter.plan.PlanLayout;
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

  private static final Hello HELLO = new Hello("engine-\u00e8", 2, false, false);
  private static final Welcome WELCOME =
      new Welcome(
          2,
          EPOCH,
          -3,
          63,
          List.of(new Welcome.ArenaOffer(1, 4_096), new Welcome.ArenaOffer(1, 1L << 40)),
          new Welcome.RingOffer(1, 16_912_384),
          new Welcome.PlansOffer(1, 1_249_280, 5),
          new Welcome.ClaimsOffer(1, 8_192));
  private static final RestoreRequest RESTORE =
      new RestoreRequest(1_000_000_000, 2, List.of(6L, 6L, Long.MAX_VALUE));
  private static final PlanHeader PLAN = new PlanHeader(7, 3, 2, 10_000, PlanHeader.PROMISE, 2, 5);
  private static final PlanBlock BLOCK = new PlanBlock(4, 1, 1L << 40, 1L << 21, (1L << 56) - 1);

  @Test
  void isEncodedToTheBytesOfTheFile() throws IOException {
    Map<String, String> made = new LinkedHashMap<>();
    MemorySegment header = MemorySegment.ofArray(new byte[FrameHeader.BYTES]);
    HEADER.encode(header);
    made.put("frame.header", hex(header));
    made.put("frame.hello", hex(HELLO.encode()));
    made.put("frame.welcome", hex(WELCOME.encode()));
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
    made.put("restore", hex(RESTORE.encode()));
    made.put("plan.record", hex(record()));
    MemorySegment block = MemorySegment.ofArray(new byte[PlanLayout.BLOCK_BYTES]);
    BLOCK.encode(new Cursor("block", block));
    made.put("plan.block", hex(block));
    made.put("word.granted", word(ManagerState.GRANTED.word(7)));
    made.put("word.revoked", word(ManagerState.REVOKED.word(7)));
    made.put("word.reaped", word(ManagerState.REAPED.word(7)));
    made.put("word.active", word(EngineState.ACTIVE.word(7)));
    made.put("word.part-drained", word(EngineState.PART_DRAINED.word(7)));
    made.put("word.drained", word(EngineState.DRAINED.word(7)));
    made.put("word.failed", word(EngineState.FAILED.word((1L << 56) - 1)));
    assertThat(made).isEqualTo(file());
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
    assertThat(Hello.decode(bytes(known, "frame.hello"))).isEqualTo(HELLO);
    assertThat(Welcome.decode(bytes(known, "frame.welcome"))).isEqualTo(WELCOME);
    assertThat(RestoreRequest.decode(cursor(known, "restore"))).isEqualTo(RESTORE);
    assertThat(PlanHeader.decode(cursor(known, "plan.record"))).isEqualTo(PLAN);
    assertThat(PlanHeader.decodeText(cursor(known, "plan.record"))).isEqualTo("revoked \u00e8");
    assertThat(PlanBlock.decode(cursor(known, "plan.block"))).isEqualTo(BLOCK);
  }

  private static MemorySegment record() {
    MemorySegment record = MemorySegment.ofArray(new byte[PlanLayout.RECORD_BYTES]);
    PLAN.encode(new Cursor("record", record));
    PlanHeader.encodeText(new Cursor("record", record), "revoked \u00e8");
    new Cursor("record", record).putU64(ManagerState.GRANTED.word(7));
    return record;
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
