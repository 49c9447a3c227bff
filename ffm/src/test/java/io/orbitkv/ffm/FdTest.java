package io.orbitkv.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OpenDescriptors.class)
class FdTest {
  private static final int ROUNDS = 500;

  private static Fd file() {
    return Memfd.create("ffm-test", 1);
  }

  private static boolean isOpen(int number) {
    return Files.exists(Path.of("/proc/self/fd/" + number), LinkOption.NOFOLLOW_LINKS);
  }

  @Test
  void closesOnce() {
    Fd fd = file();
    int number = fd.number();
    assertThat(isOpen(number)).isTrue();
    fd.close();
    assertThat(isOpen(number)).isFalse();
    assertThat(fd.isOpen()).isFalse();
    assertThatThrownBy(fd::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("fd " + number + " is already closed");
    assertThatThrownBy(fd::number).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(fd::enter).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(fd::duplicate).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(fd::release).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> Memfd.size(fd)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void duplicateLivesOnByItself() {
    Fd copy;
    try (Fd fd = file()) {
      copy = fd.duplicate();
      assertThat(copy.number()).isNotEqualTo(fd.number());
    }
    try (copy) {
      assertThat(Memfd.size(copy)).isEqualTo(1);
    }
  }

  @Test
  void isCloseOnExec() throws Exception {
    try (Fd fd = file();
        Fd copy = fd.duplicate()) {
      for (Fd each : List.of(fd, copy)) {
        String info = Files.readString(Path.of("/proc/self/fdinfo/" + each.number()));
        long flags =
            info.lines()
                .filter(line -> line.startsWith("flags:"))
                .mapToLong(line -> Long.parseLong(line.substring(6).strip(), 8))
                .findFirst()
                .orElseThrow();
        assertThat(flags & 02000000).isNotZero();
      }
    }
  }

  @Test
  void releaseGivesTheNumberAway() {
    Fd fd = file();
    fd.enter();
    assertThatThrownBy(fd::release)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("inside a call");
    fd.leave();
    int number = fd.release();
    assertThat(isOpen(number)).isTrue();
    assertThatThrownBy(fd::close).isInstanceOf(IllegalStateException.class);
    Fd.adopt(number).close();
    assertThat(isOpen(number)).isFalse();
  }

  @Test
  void numberIsNotUsedAgainUnderAThreadThatIsInside() {
    Fd fd = file();
    int number = fd.enter();
    fd.close();
    assertThat(isOpen(number)).isTrue();
    List<Fd> others = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      others.add(file());
    }
    assertThat(others).noneMatch(other -> other.number() == number);
    fd.leave();
    assertThat(isOpen(number)).isFalse();
    others.forEach(Fd::close);
  }

  @Test
  void closeAgainstUseEndsExactlyOnce() throws Exception {
    AtomicInteger wrong = new AtomicInteger();
    CyclicBarrier round = new CyclicBarrier(3);
    Fd[] shared = new Fd[] {file()};
    List<BlockingCall<Integer>> users = new ArrayList<>();
    for (int t = 0; t < 2; t++) {
      users.add(
          new BlockingCall<>(
              () -> {
                int used = 0;
                for (int i = 0; i < ROUNDS; i++) {
                  round.await();
                  Fd fd = shared[0];
                  try {
                    while (true) {
                      wrong.addAndGet(Memfd.size(fd) == 1 ? 0 : 1);
                      used++;
                    }
                  } catch (IllegalStateException closed) {
                    round.await();
                  }
                }
                return used;
              }));
    }
    for (int i = 0; i < ROUNDS; i++) {
      round.await();
      shared[0].close();
      // A number given back too early would be this file's, and its size would be seen.
      try (Fd other = Memfd.create("ffm-test", 2)) {
        round.await();
        assertThat(other.isOpen()).isTrue();
      }
      shared[0] = file();
    }
    shared[0].close();
    int used = users.get(0).result() + users.get(1).result();
    assertThat(used).isPositive();
    assertThat(wrong).hasValue(0);
  }

  @Test
  void negativeNumberIsRefused() {
    assertThatThrownBy(() -> Fd.adopt(-1)).isInstanceOf(IllegalArgumentException.class);
  }
}
