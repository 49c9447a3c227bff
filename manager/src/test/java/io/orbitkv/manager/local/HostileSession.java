package io.orbitkv.manager.local;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ring.RingLayout;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.FrameHeader;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.MemoryOffer;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.PublishEntry;
import io.orbitkv.adapter.wire.RegistrationId;
import io.orbitkv.api.Epoch;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.NativeException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One hostile session: commands whose every field may be wrong in a ring that is right, and at its
 * end something that breaks the ring or the framing. Asks for no block that exists, so that it is
 * never given a lease.
 */
final class HostileSession implements AutoCloseable {
  private static final int REGISTERED_BYTES = 4_096;
  private static final int MOST_ENTRIES = 16;
  private static final long[] EDGES = {
    0,
    1,
    -1,
    2,
    63,
    64,
    4_095,
    4_096,
    4_097,
    Integer.MAX_VALUE,
    1L << 32,
    1L << 62,
    Long.MAX_VALUE,
    Long.MIN_VALUE
  };

  private final Channel channel;
  private final Random random;
  private final RegistrationId registration;
  private long number;
  private long position;

  HostileSession(Path socket, Random random) {
    this.random = random;
    this.channel = Channel.openOnceFree(socket);
    try (Fd memfd = Memfd.create("orbitkv-hostile", REGISTERED_BYTES)) {
      Memfd.addSeals(memfd, Memfd.F_SEAL_SHRINK);
      MemorySegment offer = new MemoryOffer(1, 0, REGISTERED_BYTES).encode();
      this.registration =
          RegistrationId.decode(channel.call(FrameKind.REGISTER, 1, offer, memfd).body());
    }
  }

  /** Goes through cases; returns how many there were, at least that many. */
  int attack(int cases) {
    for (int i = 0; i < cases; i++) {
      if (random.nextInt(20) == 0) {
        claim();
      }
      command();
      while (channel.answerNow() != null) {}
    }
    return cases + breakSomething();
  }

  /** A command in its turn, of which nothing else need be right. */
  private void command() {
    byte[] descriptor = descriptor();
    if (position % RingLayout.ARENA_BYTES + descriptor.length > RingLayout.ARENA_BYTES) {
      position += RingLayout.ARENA_BYTES - position % RingLayout.ARENA_BYTES;
    }
    Epoch epoch =
        random.nextInt(50) == 0
            ? new Epoch(random.nextLong(), random.nextLong())
            : channel.welcome().epoch();
    Command command =
        new Command(
            random.nextInt(50) == 0 ? random.nextInt(1 << 16) : Command.VERSION,
            opcode(),
            random.nextInt(50) == 0 ? 0 : 1 + number,
            epoch,
            descriptor.length == 0 ? 0 : position % RingLayout.ARENA_BYTES,
            descriptor.length,
            descriptor.length == 0 ? 0 : position / RingLayout.ARENA_BYTES,
            scalar(),
            scalar());
    MemorySegment memory = channel.ring().segment();
    Channel.await(
        "the Manager takes commands",
        () -> {
          while (channel.answerNow() != null) {}
          long head =
              (long)
                  ValueLayout.JAVA_LONG.varHandle().getAcquire(memory, RingLayout.REQUESTS.head());
          return number - head < RingLayout.ENTRIES;
        });
    channel.sendRawCommand(number, command, descriptor);
    number++;
    position += (descriptor.length + 63L) / 64 * 64;
  }

  /** A word of a plan that nobody was granted; those of plans that were: HostileClaimsTest. */
  private void claim() {
    MemorySegment words = channel.claims();
    long word = random.nextBoolean() ? scalar() : random.nextInt(1_000);
    words.set(ValueLayout.JAVA_LONG, 8L * random.nextInt((int) (words.byteSize() / 8)), word);
  }

  private int opcode() {
    return switch (random.nextInt(8)) {
      case 0 -> random.nextInt(1 << 16);
      case 1 -> 0x8000 | random.nextInt(16);
      case 2 -> 0xffff;
      case 3, 4 -> random.nextBoolean() ? 1 : 3;
      default -> random.nextInt(12);
    };
  }

  private long scalar() {
    return random.nextBoolean() ? edge() : random.nextLong();
  }

  private long edge() {
    return EDGES[random.nextInt(EDGES.length)];
  }

  private byte[] descriptor() {
    byte[] bytes =
        switch (random.nextInt(6)) {
          case 0 -> new byte[0];
          case 1 -> junk(random.nextInt(300));
          case 2 -> Names.encode(names("asked"));
          case 3 -> lie();
          default -> PublishEntry.encode(pieces());
        };
    for (int flips = random.nextInt(3); flips > 0 && bytes.length > 0; flips--) {
      bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return bytes;
  }

  /** A count that is not what follows. */
  private byte[] lie() {
    byte[] bytes = junk(8 + random.nextInt(100));
    long count = random.nextBoolean() ? edge() : random.nextInt(20);
    MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_INT_UNALIGNED, 0, (int) count);
    return bytes;
  }

  private byte[] junk(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private List<BlockName> names(String namespace) {
    List<BlockName> names = new ArrayList<>();
    for (int i = random.nextInt(MOST_ENTRIES); i >= 0; i--) {
      names.add(BlockName.of(namespace, junk(1 + random.nextInt(255))));
    }
    return names;
  }

  private List<PublishEntry> pieces() {
    List<PublishEntry> pieces = new ArrayList<>();
    for (BlockName name : names("stored").subList(0, 1)) {
      pieces.add(
          new PublishEntry(
              name,
              random.nextInt(4) == 0 ? edge() : registration.id(),
              random.nextInt(4) == 0 ? edge() : registration.generation(),
              random.nextInt(3) == 0 ? scalar() : random.nextInt(REGISTERED_BYTES + 2),
              random.nextInt(3) == 0 ? scalar() : random.nextInt(REGISTERED_BYTES + 2)));
    }
    return pieces;
  }

  private int breakSomething() {
    return switch (random.nextInt(4)) {
      case 0 -> scribble();
      case 1 -> outOfTurn();
      case 2 -> frames();
      default -> 0; // goes without a word
    };
  }

  private int scribble() {
    MemorySegment memory = channel.ring().segment();
    int spots = 1 + random.nextInt(20);
    for (int i = 0; i < spots; i++) {
      byte[] junk = junk(1 + random.nextInt(300));
      long at =
          random.nextBoolean() ? random.nextInt(4_096) : random.nextLong(RingLayout.BYTES - 300);
      MemorySegment.copy(MemorySegment.ofArray(junk), 0, memory, at, junk.length);
      channel.ring().requests().signal();
    }
    return spots;
  }

  private int outOfTurn() {
    channel.sendRawCommand(
        random.nextInt(3) == 0 ? random.nextLong() >>> 1 : number,
        new Command(
            Command.VERSION,
            random.nextInt(4),
            1 + number,
            channel.welcome().epoch(),
            scalar(),
            edge(),
            scalar(),
            scalar(),
            scalar()),
        junk(random.nextInt(100)));
    return 1;
  }

  private int frames() {
    int count = 1 + random.nextInt(5);
    try {
      for (int i = 0; i < count; i++) {
        byte[] body = junk(random.nextInt(100));
        MemorySegment frame = MemorySegment.ofArray(new byte[FrameHeader.BYTES + body.length]);
        new FrameHeader(
                random.nextInt(20) == 0 ? random.nextInt(1 << 16) : Command.VERSION,
                random.nextInt(20),
                random.nextInt(5) == 0 ? random.nextInt(1 << 28) : body.length,
                random.nextInt(20) == 0 ? random.nextInt() : FrameHeader.MAGIC,
                random.nextInt(5) == 0 ? random.nextInt(20) : 0,
                random.nextLong(),
                random.nextInt(5) == 0 ? random.nextLong() : channel.welcome().session(),
                channel.welcome().epoch())
            .encode(frame);
        MemorySegment.copy(body, 0, frame, ValueLayout.JAVA_BYTE, FrameHeader.BYTES, body.length);
        channel.sendRaw(frame.toArray(ValueLayout.JAVA_BYTE));
      }
    } catch (NativeException _) {
      // the Manager has ended it
    }
    return count;
  }

  @Override
  public void close() {
    channel.close();
  }
}
