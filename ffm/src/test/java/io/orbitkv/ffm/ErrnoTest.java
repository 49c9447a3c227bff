package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ErrnoTest {
  private static final int THREADS = 8;
  private static final int ROUNDS = 20_000;

  @Test
  void namesAndTexts() {
    assertThat(Errno.name(Errno.EBADF)).isEqualTo("EBADF");
    assertThat(Errno.text(Errno.EBADF)).isEqualTo("Bad file descriptor");
    assertThat(Errno.name(Errno.EAGAIN)).isEqualTo("EAGAIN");
    assertThat(Errno.name(133)).isEqualTo("EHWPOISON");
    assertThat(Errno.name(0)).isEqualTo("errno 0");
    assertThat(Errno.name(-5)).isEqualTo("errno -5");
    assertThat(Errno.name(999)).isEqualTo("errno 999");
    assertThat(Errno.text(999)).isEqualTo("Unknown error");
  }

  @Test
  void exceptionNamesCallCauseAndFix() {
    NativeException plain = new NativeException("memfd_create(pool)", Errno.EINVAL);
    assertThat(plain).hasMessage("memfd_create(pool): EINVAL Invalid argument");
    assertThat(plain.errno()).isEqualTo(22);
    assertThat(plain.errnoName()).isEqualTo("EINVAL");
    assertThat(plain.call()).isEqualTo("memfd_create(pool)");
    assertThat(new NativeException("x()", Errno.EPERM, "become root"))
        .hasMessage("x(): EPERM Operation not permitted; become root");
  }

  @Test
  void eachThreadSeesTheErrorOfItsOwnCall() throws Exception {
    List<BlockingCall<Integer>> calls = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      int kind = t % 3;
      calls.add(new BlockingCall<>(() -> failures(kind)));
    }
    for (BlockingCall<Integer> call : calls) {
      assertThat(call.result()).isEqualTo(ROUNDS);
    }
  }

  private static int failures(int kind) {
    int expected = new int[] {Errno.EBADF, Errno.EINVAL, Errno.ESRCH}[kind];
    int right = 0;
    try (EventFd event = EventFd.create()) {
      Fd never = Fd.adopt(1_000_000_000);
      for (int i = 0; i < ROUNDS; i++) {
        try {
          switch (kind) {
            case 0 -> Memfd.seals(never);
            case 1 -> Memfd.seals(event.fd());
            default -> PidFd.open(Integer.MAX_VALUE).close();
          }
        } catch (NativeException e) {
          right += e.errno() == expected ? 1 : 0;
        }
      }
    }
    return right;
  }

  @Test
  void missingSymbolFailsAtItsCallAndSaysWhatToDo() {
    MethodHandle missing = Downcall.bind("orbitkv_no_such_call", JAVA_INT, JAVA_INT);
    assertThatThrownBy(
            () -> {
              int _ = (int) missing.invokeExact(CallState.own().capture, 1);
            })
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessage(
            "libc has no symbol orbitkv_no_such_call; run on Linux with glibc 2.28 or newer");
  }
}
