package io.orbitkv.manager.control;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread on which all of one side of the control plane happens, so that its events have one
 * order and its state one writer.
 */
final class ControlLoop {
  private static final Logger log = LoggerFactory.getLogger(ControlLoop.class);
  private static final long STOP_MILLIS = 2_000;

  private final MultiThreadIoEventLoopGroup group;
  private final EventLoop loop;

  ControlLoop(String threadName) {
    group =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory(threadName, true), NioIoHandler.newFactory());
    loop = group.next();
  }

  MultiThreadIoEventLoopGroup group() {
    return group;
  }

  /** Runs at once if on the thread, else soon; by the caller if the thread has ended. */
  void run(Runnable task) {
    if (loop.inEventLoop()) {
      task.run();
    } else {
      runLater(task);
    }
  }

  /** Runs after what the thread is at; by the caller if the thread has ended. */
  void runLater(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      // The thread has ended, so nothing else touches what the task touches.
      task.run();
    }
  }

  /** Runs, and waits at most 2 s until it has run. */
  void runAndWait(Runnable task) {
    CountDownLatch ran = new CountDownLatch(1);
    run(
        () -> {
          try {
            task.run();
          } finally {
            ran.countDown();
          }
        });
    try {
      if (!ran.await(STOP_MILLIS, TimeUnit.MILLISECONDS)) {
        log.warn("the control plane's thread is busy for more than {} ms", STOP_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs later; never if the thread has ended by then. */
  void runAfter(long millis, Runnable task) {
    try {
      var _ = loop.schedule(task, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // Nothing is due any more.
    }
  }

  /** Ends the thread; waits at most 2 s for it, not at all if called on it. */
  void stop() {
    var ended = group.shutdownGracefully(0, STOP_MILLIS, TimeUnit.MILLISECONDS);
    if (!loop.inEventLoop()) {
      ended.awaitUninterruptibly(STOP_MILLIS);
    }
  }
}
