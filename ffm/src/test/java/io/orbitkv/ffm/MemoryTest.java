package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OpenDescriptors.class)
class MemoryTest {
  private static final long PAGE = PageSize.bytes();

  private static void fails(int errno, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            NativeException.class, e -> assertThat(e.errnoName()).isEqualTo(Errno.name(errno)));
  }

  @Test
  void pageSizeIsAPowerOfTwo() {
    assertThat(Long.bitCount(PAGE)).isEqualTo(1);
    assertThat(PAGE).isBetween(4_096L, 65_536L);
    assertThat(PageSize.roundUp(0)).isZero();
    assertThat(PageSize.roundUp(1)).isEqualTo(PAGE);
    assertThat(PageSize.roundUp(PAGE)).isEqualTo(PAGE);
    assertThatThrownBy(() -> PageSize.roundUp(Long.MAX_VALUE))
        .isInstanceOf(ArithmeticException.class);
  }

  @Test
  void memfdRefusesBadNameAndSize() {
    assertThatThrownBy(() -> Memfd.create("n".repeat(250), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("249");
    assertThatThrownBy(() -> Memfd.create("a\0b", 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Memfd.create("ffm-test", 0))
        .isInstanceOf(IllegalArgumentException.class);
    Memfd.create("n".repeat(249), 1).close();
  }

  @Test
  void sizeSealsHoldAgainstEverybody() throws IOException {
    try (Fd fd = Memfd.create("ffm-test", 3 * PAGE)) {
      assertThat(Memfd.size(fd)).isEqualTo(3 * PAGE);
      assertThat(Memfd.seals(fd)).isZero();
      Memfd.addSeals(fd, Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW);
      assertThat(Memfd.seals(fd)).isEqualTo(Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW);
      try (FileChannel other =
          FileChannel.open(Path.of("/proc/self/fd/" + fd.number()), StandardOpenOption.WRITE)) {
        assertThatThrownBy(() -> other.truncate(PAGE)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> other.write(java.nio.ByteBuffer.allocate(1), 3 * PAGE))
            .isInstanceOf(IOException.class);
      }
      assertThat(Memfd.size(fd)).isEqualTo(3 * PAGE);
      Memfd.addSeals(fd, Memfd.F_SEAL_SEAL);
      fails(Errno.EPERM, () -> Memfd.addSeals(fd, Memfd.F_SEAL_WRITE));
    }
  }

  @Test
  void writeSealNeedsNoWriterAndForbidsNewOnes() {
    try (Fd fd = Memfd.create("ffm-test", PAGE)) {
      try (Mapping writer = Mapping.map(fd, 0, PAGE, Protection.READ_WRITE, false)) {
        writer.segment().set(JAVA_BYTE, 7, (byte) 42);
        fails(Errno.EBUSY, () -> Memfd.addSeals(fd, Memfd.F_SEAL_WRITE));
      }
      Memfd.addSeals(fd, Memfd.F_SEAL_WRITE);
      fails(Errno.EPERM, () -> Mapping.map(fd, 0, PAGE, Protection.READ_WRITE, false));
      try (Mapping reader = Mapping.map(fd, 0, PAGE, Protection.READ, true)) {
        assertThat(reader.segment().get(JAVA_BYTE, 7)).isEqualTo((byte) 42);
      }
    }
  }

  @Test
  void futureWriteSealKeepsTheWriterThatIsThere() {
    try (Fd fd = Memfd.create("ffm-test", PAGE);
        Mapping writer = Mapping.map(fd, 0, PAGE, Protection.READ_WRITE, true)) {
      Memfd.addSeals(fd, Memfd.F_SEAL_FUTURE_WRITE);
      fails(Errno.EPERM, () -> Mapping.map(fd, 0, PAGE, Protection.READ_WRITE, false));
      try (Mapping reader = Mapping.map(fd, 0, PAGE, Protection.READ, false)) {
        writer.segment().set(JAVA_LONG, 8, 0x1234_5678_9abc_def0L);
        assertThat(reader.segment().get(JAVA_LONG, 8)).isEqualTo(0x1234_5678_9abc_def0L);
      }
    }
  }

  @Test
  void sealsOfWhatIsNoMemfd() {
    try (EventFd event = EventFd.create()) {
      fails(Errno.EINVAL, () -> Memfd.seals(event.fd()));
    }
  }

  @Test
  void mappingStaysInsideTheFile() {
    try (Fd fd = Memfd.create("ffm-test", 2 * PAGE)) {
      for (long[] wrong :
          List.of(
              new long[] {0, 0},
              new long[] {0, -1},
              new long[] {0, 2 * PAGE + 1},
              new long[] {0, Long.MAX_VALUE},
              new long[] {PAGE, PAGE + 1},
              new long[] {2 * PAGE, 1},
              new long[] {-PAGE, PAGE},
              new long[] {1, PAGE},
              new long[] {PAGE - 1, 1})) {
        assertThatThrownBy(() -> Mapping.map(fd, wrong[0], wrong[1], Protection.READ, false))
            .as("offset %d, %d bytes", wrong[0], wrong[1])
            .isInstanceOf(IllegalArgumentException.class);
      }
      try (Mapping tail = Mapping.map(fd, PAGE, PAGE, Protection.READ_WRITE, false);
          Mapping whole = Mapping.map(fd, 0, 2 * PAGE, Protection.READ, false)) {
        tail.segment().set(JAVA_LONG, 0, 99);
        assertThat(whole.segment().get(JAVA_LONG, PAGE)).isEqualTo(99);
        assertThat(tail.bytes()).isEqualTo(PAGE);
      }
    }
  }

  @Test
  void segmentIsBoundedReadOnlyAndDeadAfterClose() {
    try (Fd fd = Memfd.create("ffm-test", PAGE)) {
      Mapping mapping = Mapping.map(fd, 0, 100, Protection.READ, false);
      MemorySegment segment = mapping.segment();
      assertThat(segment.byteSize()).isEqualTo(100);
      assertThatThrownBy(() -> segment.get(JAVA_BYTE, 100))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> segment.set(JAVA_BYTE, 0, (byte) 1))
          .isInstanceOf(IllegalArgumentException.class);
      mapping.close();
      assertThatThrownBy(() -> segment.get(JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(mapping::close).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(mapping::lock).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(mapping::dontFork).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void closeFailsDuringACallOnTheSegmentAndWorksAfterIt() throws Exception {
    try (Fd fd = Memfd.create("ffm-test", PAGE)) {
      Mapping mapping = Mapping.map(fd, 0, PAGE, Protection.READ_WRITE, false);
      MemorySegment segment = mapping.segment();
      BlockingCall<Futex.Result> waiter = new BlockingCall<>(() -> Futex.await(segment, 64, 0, -1));
      waiter.awaitInside(segment.address() + 64);
      assertThatThrownBy(mapping::close).isInstanceOf(IllegalStateException.class);
      assertThat(segment.get(JAVA_LONG, 64)).isZero();
      Eventually.until(() -> Futex.wake(segment, 64, 1) == 1, () -> "nobody to wake");
      assertThat(waiter.result()).isEqualTo(Futex.Result.WOKEN);
      mapping.close();
    }
  }

  @Test
  void adviceIsSeenByTheKernel() throws IOException {
    long bytes = 4 << 20;
    try (Fd fd = Memfd.create("ffm-test-advice", bytes);
        Mapping mapping = Mapping.map(fd, 0, bytes, Protection.READ_WRITE, true)) {
      assertThat(smaps("Rss:")).isEqualTo(bytes / 1024 + " kB");
      mapping.dontFork();
      assertThat(smaps("VmFlags:").split(" ", -1)).contains("dc");
      if (mapping.adviseHugePages()) {
        assertThat(smaps("VmFlags:").split(" ", -1)).contains("hg");
      }
      if (mapping.lock()) {
        assertThat(mapping.lockRefusal()).isNull();
        assertThat(smaps("Locked:")).isEqualTo(bytes / 1024 + " kB");
      } else {
        assertThat(mapping.lockRefusal()).contains("mlock", "ulimit -l");
      }
    }
  }

  // Guard: the aligned address in Mapping.map; without it no mapping below is of huge pages.
  @Test
  void hugePagesOfAFileAreMappedAsSuchByEveryLargeMapping() throws IOException {
    long bytes = (40 << 20) + PAGE;
    try (Fd fd = Memfd.create("ffm-test-advice", bytes);
        Mapping writable = Mapping.map(fd, 0, bytes, Protection.READ_WRITE, false)) {
      long made = writable.populateHuge();
      assertThat(smaps("Rss:")).isEqualTo(bytes / 1024 + " kB");
      assumeThat(made).as("huge pages are to be had here").isEqualTo(40 << 20);
      assertThat(smaps("ShmemPmdMapped:")).isEqualTo((40 << 10) + " kB");
      writable.segment().set(JAVA_LONG, bytes - 8, 7);
    }
    try (Fd fd = Memfd.create("ffm-test-read", bytes)) {
      try (Mapping writable = Mapping.map(fd, 0, bytes, Protection.READ_WRITE, false)) {
        writable.populateHuge();
        writable.segment().set(JAVA_LONG, bytes - 8, 7);
      }
      try (Mapping readable = Mapping.map(fd, 0, bytes, Protection.READ, false)) {
        assertThat(readable.segment().get(JAVA_LONG, bytes - 8)).isEqualTo(7);
        assertThat(readable.segment().get(JAVA_LONG, 0)).isZero();
        assertThat(smaps("/memfd:ffm-test-read", "ShmemPmdMapped:")).isEqualTo("2048 kB");
      }
    }
  }

  private static String smaps(String field) throws IOException {
    return smaps("/memfd:ffm-test-advice", field);
  }

  private static String smaps(String file, String field) throws IOException {
    List<String> lines = Files.readAllLines(Path.of("/proc/self/smaps"));
    int at = 0;
    while (!lines.get(at).contains(file)) {
      at++;
    }
    while (!lines.get(at).startsWith(field)) {
      at++;
    }
    return lines.get(at).substring(field.length()).strip();
  }
}
