package io.orbitkv.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OpenDescriptors.class)
class WaitTest {
  private static final long SHORT = TimeUnit.MILLISECONDS.toNanos(30);

  @Test
  void eventCountsAndEmpties() {
    try (EventFd event = EventFd.create()) {
      assertThat(event.tryConsume()).isZero();
      assertThat(event.awaitSignal(0)).isFalse();
      event.signal();
      event.signal();
      assertThat(event.awaitSignal(-1)).isTrue();
      assertThat(event.tryConsume()).isEqualTo(2);
      assertThat(event.tryConsume()).isZero();
    }
  }

  @Test
  void eventWakesAWaiter() throws Exception {
    try (EventFd event = EventFd.create()) {
      BlockingCall<Boolean> waiter = new BlockingCall<>(() -> event.awaitSignal(-1));
      assertThat(event.awaitSignal(SHORT)).isFalse();
      assertThat(waiter.isDone()).isFalse();
      event.signal();
      assertThat(waiter.result()).isTrue();
    }
  }

  @Test
  void eventWaitLastsItsTimeout() {
    try (EventFd event = EventFd.create()) {
      long start = System.nanoTime();
      assertThat(event.awaitSignal(SHORT)).isFalse();
      assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT);
    }
  }

  @Test
  void adoptedEventIsNonBlocking() {
    try (EventFd first = EventFd.create();
        EventFd second = EventFd.adopt(first.fd().duplicate())) {
      first.signal();
      assertThat(second.tryConsume()).isEqualTo(1);
      assertThat(second.tryConsume()).isZero();
    }
  }

  @Test
  void closedEventRefuses() {
    EventFd event = EventFd.create();
    event.close();
    assertThatThrownBy(event::signal).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(event::tryConsume).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> event.awaitSignal(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(event::close).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void pollTellsWhichIsReady() {
    try (EventFd first = EventFd.create();
        EventFd second = EventFd.create()) {
      Poll poll = new Poll(2);
      int a = poll.add(first.fd(), Poll.IN);
      int b = poll.add(second.fd(), Poll.IN);
      assertThat(poll.size()).isEqualTo(2);
      assertThatThrownBy(() -> poll.add(first.fd(), Poll.IN))
          .isInstanceOf(IllegalStateException.class);
      assertThat(poll.poll(0)).isZero();
      second.signal();
      assertThat(poll.poll(-1)).isEqualTo(1);
      assertThat(poll.ready(a)).isZero();
      assertThat(poll.ready(b)).isEqualTo(Poll.IN);
      poll.interest(b, 0);
      assertThat(poll.poll(SHORT)).isZero();
      poll.interest(a, Poll.OUT);
      assertThat(poll.poll(-1)).isEqualTo(1);
      assertThat(poll.ready(a)).isEqualTo(Poll.OUT);
      poll.clear();
      assertThatThrownBy(() -> poll.ready(0)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void pollRefusesAClosedDescriptorAndLetsTheOthersGo() {
    Poll poll = new Poll(2);
    EventFd open = EventFd.create();
    EventFd closed = EventFd.create();
    poll.add(open.fd(), Poll.IN);
    poll.add(closed.fd(), Poll.IN);
    closed.close();
    assertThatThrownBy(() -> poll.poll(-1)).isInstanceOf(IllegalStateException.class);
    open.close(); // the extension sees it stay open if the poll had not left it
  }

  @Test
  void futexAnswers() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64, 8);
      assertThat(Futex.await(memory, 4, 1, -1)).isEqualTo(Futex.Result.CHANGED);
      assertThat(Futex.await(memory, 4, 0, SHORT)).isEqualTo(Futex.Result.TIMED_OUT);
      assertThat(Futex.wake(memory, 4, 1)).isZero();
      BlockingCall<Futex.Result> waiter = new BlockingCall<>(() -> Futex.await(memory, 4, 0, -1));
      waiter.awaitInside(memory.address() + 4);
      memory.set(ValueLayout.JAVA_INT, 4, 1);
      Eventually.until(() -> Futex.wake(memory, 4, 1) == 1, () -> "nobody to wake");
      assertThat(waiter.result()).isEqualTo(Futex.Result.WOKEN);
      assertThatThrownBy(() -> Futex.await(memory, 2, 0, 0))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> Futex.await(memory, 64, 0, 0))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> Futex.wake(MemorySegment.ofArray(new int[2]), 0, 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void membarrierPasses() {
    Assumptions.assumeTrue(Membarrier.supported(), "this kernel has no global expedited barrier");
    Membarrier.register();
    Membarrier.register();
    Membarrier.barrier();
  }

  @Test
  void yieldReturns() {
    Cpu.yieldNow();
  }

  @Test
  void pidfdOfOurselvesAndOfNobody() {
    try (PidFd self = PidFd.openSelf();
        EventFd event = EventFd.create()) {
      assertThat(self.pid()).isEqualTo(ProcessHandle.current().pid());
      assertThat(self.hasExited()).isFalse();
      assertThat(self.awaitExit(SHORT)).isFalse();
      assertThatThrownBy(() -> PidFd.adopt(event.fd()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("is not a pidfd");
    }
    assertThatThrownBy(() -> PidFd.open(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PidFd.open(1L << 32)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> PidFd.open(Integer.MAX_VALUE))
        .isInstanceOf(NativeException.class)
        .hasMessageContaining("ESRCH");
  }
}
