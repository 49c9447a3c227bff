package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Role;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.Hello;
import io.orbitkv.ffm.Fd;
import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.Protection;
import io.orbitkv.manager.Manager;
import io.orbitkv.manager.plan.Site;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a client may try with the descriptor of an arena of the real pool, as the Manager's own
 * user: nothing of it changes a byte. Guards: of all F_SEAL_FUTURE_WRITE in MemoryArena, of the
 * sizes F_SEAL_SHRINK and F_SEAL_GROW there.
 */
final class ArenaWritingTest {
  /** The pool of {@link Site}. */
  private static final int BYTES = 1 << 20;

  private static final int BLOCK = Site.BLOCK;
  private static final long EPERM = 1;
  private static final long EACCES = 13;

  private Manager manager;
  private Channel channel;
  private Frame welcome;
  private Fd arena;
  private byte[] before;

  @BeforeEach
  void start(@TempDir Path directory) {
    Path socket = directory.resolve("m.sock");
    manager = Site.manager(socket);
    try (ManagerClient client = Site.client(socket, Role.TOOL)) {
      Site.publish(client, 0, BYTES / BLOCK, BLOCK);
    }
    channel = new Channel(socket);
    welcome = channel.hello(new Hello("hostile", 2).encode());
    arena = welcome.descriptors().getFirst();
    before = content();
    assertThat(before).contains(Site.fill(0)).contains(Site.fill(BYTES / BLOCK - 1));
  }

  private byte[] content() {
    try (Mapping mapping = Mapping.map(arena, 0, BYTES, Protection.READ, false)) {
      return mapping.segment().toArray(ValueLayout.JAVA_BYTE);
    }
  }

  @AfterEach
  void stop() {
    try {
      assertThat(content()).isEqualTo(before);
    } finally {
      welcome.discard();
      channel.close();
      manager.shutdown();
    }
  }

  @Test
  void aWritableMapIsRefused() {
    assertThatThrownBy(() -> Mapping.map(arena, 0, BLOCK, Protection.READ_WRITE, false))
        .isInstanceOfSatisfying(
            NativeException.class, e -> assertThat(e.errnoName()).isEqualTo("EPERM"));
  }

  @Test
  void aReadOnlyMapCanNotBecomeWritable() throws Throwable {
    try (Mapping mapping = Mapping.map(arena, 0, BLOCK, Protection.READ, false)) {
      MemorySegment range = mapping.segment();
      assertThat(TestCalls.protect(range, TestCalls.PROT_READ | TestCalls.PROT_WRITE))
          .isEqualTo(-EACCES);
      assertThat(TestCalls.advise(range, TestCalls.MADV_REMOVE)).isEqualTo(-EACCES);
    }
  }

  @Test
  void aHoleIsRefused() throws Throwable {
    int hole = TestCalls.FALLOC_PUNCH_HOLE | TestCalls.FALLOC_KEEP_SIZE;
    assertThat(TestCalls.fallocate(arena.number(), hole, 0, BLOCK)).isEqualTo(-EPERM);
  }

  @Test
  void neitherWritingNorAnotherSizeIsPossible() throws Throwable {
    assertThat(TestCalls.write(arena.number(), 8)).isEqualTo(-EPERM);
    assertThat(TestCalls.ftruncate(arena.number(), 0)).isEqualTo(-EPERM);
    assertThat(TestCalls.ftruncate(arena.number(), 2L * BYTES)).isEqualTo(-EPERM);
    assertThat(TestCalls.fallocate(arena.number(), 0, BYTES, BYTES)).isEqualTo(-EPERM);
  }

  /** The kernel lets the owner open it again; what counts is that this opens no way to write. */
  @Test
  void openingItAgainForWritingWritesNothing() throws Throwable {
    long again = TestCalls.open("/proc/self/fd/" + arena.number(), TestCalls.O_RDWR);
    assertThat(again).isPositive();
    try (Fd opened = Fd.adopt((int) again)) {
      assertThat(TestCalls.write(opened.number(), 8)).isEqualTo(-EPERM);
      assertThatThrownBy(() -> Mapping.map(opened, 0, BLOCK, Protection.READ_WRITE, false))
          .isInstanceOf(NativeException.class)
          .hasMessageContaining("EPERM");
      int hole = TestCalls.FALLOC_PUNCH_HOLE | TestCalls.FALLOC_KEEP_SIZE;
      assertThat(TestCalls.fallocate(opened.number(), hole, 0, BLOCK)).isEqualTo(-EPERM);
      assertThat(TestCalls.ftruncate(opened.number(), 0)).isEqualTo(-EPERM);
    }
  }
}
