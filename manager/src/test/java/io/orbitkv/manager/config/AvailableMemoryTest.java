package io.orbitkv.manager.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AvailableMemoryTest {
  private static final long GIB = 1L << 30;

  @TempDir private Path root;

  @BeforeEach
  void machineOf64GiB() throws IOException {
    file("proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable:   67108864 kB\nBuffers: 1 kB\n");
    file("proc/self/cgroup", "0::/a/b\n");
  }

  @Test
  void withoutLimitsItIsWhatTheKernelHasAvailable() throws IOException {
    file("sys/fs/cgroup/a/b/memory.max", "max\n");
    file("sys/fs/cgroup/a/b/memory.current", "5\n");
    AvailableMemory memory = AvailableMemory.now(root);
    assertThat(memory).isEqualTo(new AvailableMemory(64 * GIB, "this machine"));
    assertThat(memory.forPool()).isEqualTo(64 * GIB - (256L << 20));
  }

  @Test
  void theNarrowestCgroupCountsAndItsCachedFilesAreFree() throws IOException {
    file("sys/fs/cgroup/a/b/memory.max", Long.toString(32 * GIB));
    file("sys/fs/cgroup/a/b/memory.current", Long.toString(GIB));
    file("sys/fs/cgroup/a/memory.max", Long.toString(8 * GIB));
    file("sys/fs/cgroup/a/memory.current", Long.toString(7 * GIB));
    file("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file " + 3 * GIB + "\n");
    assertThat(AvailableMemory.now(root)).isEqualTo(new AvailableMemory(4 * GIB, "this cgroup"));
  }

  @Test
  void aContainerSeesItsCgroupAsTheRoot() throws IOException {
    file("proc/self/cgroup", "0::/\n");
    file("sys/fs/cgroup/memory.max", Long.toString(GIB));
    file("sys/fs/cgroup/memory.current", "0\n");
    assertThat(AvailableMemory.now(root)).isEqualTo(new AvailableMemory(GIB, "this cgroup"));
  }

  @Test
  void aKernelThatSaysNothingLimitsNothing() {
    assertThat(AvailableMemory.now(root.resolve("nowhere")).forPool()).isGreaterThan(1L << 60);
  }

  @Test
  void theFaultNamesWhatIsThereAndWhatFits() {
    SettingValues values =
        SettingValues.resolve(Map.of("pool-bytes", "999GiB"), Map.of(), Map.of());
    assertThatThrownBy(
            () ->
                ConfigurationChecks.checkMemory(
                    values, new AvailableMemory(23 * GIB, "this machine")))
        .isInstanceOf(ConfigurationException.class)
        .hasMessage(
            "--pool-bytes: '999GiB' is more than this machine has available, 23.0GiB; make it at"
                + " most 22.7GiB");
    ConfigurationChecks.checkMemory(values, new AvailableMemory(1_000 * GIB, "this machine"));
  }

  private void file(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
