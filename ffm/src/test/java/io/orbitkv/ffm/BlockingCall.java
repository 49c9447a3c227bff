package io.orbitkv.ffm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A call on a thread of its own, of which the kernel tells whether it is stuck. */
final class BlockingCall<T extends @Nullable Object> {
  private final FutureTask<T> task;
  private volatile @Nullable Path status;

  BlockingCall(Callable<T> call) {
    task = new FutureTask<>(call);
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                Path self =
                    Path.of("/proc", Files.readSymbolicLink(Path.of("/proc/thread-self")) + "");
                status = self.resolve("syscall");
              } catch (IOException e) {
                throw new AssertionError(e);
              }
              task.run();
            });
  }

  /** Returns once the thread sleeps in a system call whose first argument is this number. */
  void awaitInside(long firstArgument) throws Exception {
    Eventually.until(
        () -> {
          String[] fields = kernelState().split(" ", -1);
          return fields.length > 1 && fields[1].equals("0x" + Long.toHexString(firstArgument));
        },
        () -> "the thread is in '" + kernelState() + "', not in a call on " + firstArgument);
  }

  boolean isDone() {
    return task.isDone();
  }

  T result() throws Exception {
    return task.get(Eventually.LIMIT_NANOS, TimeUnit.NANOSECONDS);
  }

  private String kernelState() throws IOException {
    Path file = status;
    return file == null ? "start" : Files.readString(file).strip();
  }
}
