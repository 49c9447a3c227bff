package io.orbitkv.manager.membership;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Managers of this host and user, by files in one directory, without a server. A file is locked
 * by its Manager's process, so that the file of a killed one is known as dead, and removed by who
 * notices: at once if something changes in the directory, else within {@value #RESCAN_MILLIS} ms.
 * The sink is told by the thread {@code orbitkv-host-registry}. Thread-safe.
 */
public final class HostRegistry implements Membership {
  /** How often the directory is looked at without being told of a change; a death tells nothing. */
  static final long RESCAN_MILLIS = 1_000;

  private static final Logger log = LoggerFactory.getLogger(HostRegistry.class);

  private final Path directory;
  private @Nullable Member published;
  private @Nullable RegistryEntry own;
  private @Nullable WatchService watcher;
  private @Nullable Thread thread;
  private boolean closed;
  // The registry's thread only.
  private Set<Member> told = Set.of();
  private String lastFailure = "";

  /**
   * A registry in that directory, made with mode 0700 if it is not there.
   *
   * @throws TransportException DENIED if it is a link, another user's, or open to other users
   */
  public HostRegistry(Path directory) {
    this.directory = directory;
    RegistryDirectory.open(directory);
  }

  /**
   * Makes the directory as the constructor does, or throws as it does.
   *
   * @throws TransportException DENIED, DEVICE
   */
  public static void checkUsable(Path directory) {
    RegistryDirectory.open(directory);
  }

  @Override
  public synchronized void watch(Consumer<Set<Member>> sink) {
    if (closed || thread != null) {
      throw new TransportException(
          FaultCode.INVALID, "registry " + directory + " is watched already, or closed");
    }
    try {
      WatchService opened = directory.getFileSystem().newWatchService();
      watcher = opened;
      thread =
          Thread.ofPlatform()
              .daemon()
              .name("orbitkv-host-registry")
              .unstarted(() -> run(opened, sink));
      thread.start();
    } catch (IOException e) {
      throw failed("can not be watched", e);
    }
  }

  @Override
  public synchronized void publish(Member self) {
    if (closed || self.managerEpoch().isEmpty()) {
      throw new TransportException(
          FaultCode.INVALID,
          "registry " + directory + " is closed, or the Manager to publish has no epoch");
    }
    withdraw();
    try {
      own = RegistryEntry.create(RegistryDirectory.open(directory), self);
      published = self;
    } catch (IOException e) {
      throw failed("can not be written", e);
    }
  }

  @Override
  public synchronized void withdraw() {
    RegistryEntry was = own;
    own = null;
    published = null;
    if (was != null) {
      try {
        was.remove();
      } catch (IOException e) {
        // Its lock is gone all the same, so that others take it for dead.
        log.warn("registry {}: own entry is not removed: {}", directory, e.toString());
      }
    }
  }

  @Override
  public void close() {
    WatchService opened;
    Thread running;
    synchronized (this) {
      closed = true;
      withdraw();
      opened = watcher;
      running = thread;
    }
    try {
      if (opened != null) {
        opened.close();
      }
      if (running != null && running != Thread.currentThread()) {
        running.join(2 * RESCAN_MILLIS);
      }
    } catch (IOException e) {
      log.warn("registry {}: {}", directory, e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(WatchService watching, Consumer<Set<Member>> sink) {
    WatchKey key = null;
    while (true) {
      try {
        if (key == null || !key.isValid()) {
          key =
              RegistryDirectory.open(directory)
                  .register(
                      watching,
                      StandardWatchEventKinds.ENTRY_CREATE,
                      StandardWatchEventKinds.ENTRY_DELETE);
        }
        Set<Member> now = scan();
        lastFailure = "";
        tell(sink, now);
        WatchKey signalled = watching.poll(RESCAN_MILLIS, TimeUnit.MILLISECONDS);
        if (signalled != null) {
          signalled.pollEvents();
          signalled.reset();
        }
      } catch (ClosedWatchServiceException e) {
        return;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (IOException | RuntimeException e) {
        if (!pauseAfter(e)) {
          return;
        }
      }
    }
  }

  /** The others; also puts our own file back if somebody swept it away. */
  private Set<Member> scan() throws IOException {
    Path real = RegistryDirectory.open(directory);
    Member self = restoreOwn(real);
    Set<Member> found = new HashSet<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(real, RegistryEntry::isEntry)) {
      for (Path file : files) {
        RegistryEntry.read(file).filter(member -> !member.equals(self)).ifPresent(found::add);
      }
    }
    return found;
  }

  private synchronized @Nullable Member restoreOwn(Path real) throws IOException {
    Member self = published;
    RegistryEntry entry = own;
    if (self != null && (entry == null || !entry.isThere())) {
      log.warn("registry {}: own entry was removed; it is written again", directory);
      own = null;
      if (entry != null) {
        entry.remove();
      }
      own = RegistryEntry.create(real, self);
    }
    return self;
  }

  private void tell(Consumer<Set<Member>> sink, Set<Member> now) {
    if (!now.equals(told)) {
      told = Set.copyOf(now);
      log.info("registry {}: {} other Managers", directory, now.size());
      sink.accept(told);
    }
  }

  /** A failure is no news of the members: they stay as they were. */
  private boolean pauseAfter(Exception failure) {
    if (!failure.toString().equals(lastFailure)) {
      lastFailure = failure.toString();
      log.warn("registry {} can not be read, trying on: {}", directory, lastFailure);
    }
    try {
      Thread.sleep(RESCAN_MILLIS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private TransportException failed(String what, IOException e) {
    return new TransportException(
        FaultCode.DEVICE,
        "registry directory %s %s: %s; free space there or name another"
            .formatted(directory, what, e),
        e);
  }
}
