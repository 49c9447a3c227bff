package io.orbitkv.ffm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A listening Unix socket with a file. Owned by its creator; threads may accept at the same time,
 * and {@link #close()} from another thread ends their wait and removes the file.
 */
public final class UnixListener implements AutoCloseable {
  private static final long LOCK_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LOCK_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final int FILE_TYPE = 0170000; // S_IFMT and S_IFSOCK, linux/stat.h
  private static final int SOCKET_TYPE = 0140000;

  private final Fd fd;
  private final Path path;
  private final Object file;

  private UnixListener(Fd fd, Path path, Object file) {
    this.fd = fd;
    this.path = path;
    this.file = file;
  }

  /**
   * Listens on a path. A socket file that a dead listener left is replaced; the file of a living
   * one, and anything that is not a socket, is left alone.
   *
   * @param mode permission bits of the socket file, such as 0600; it never has others
   * @throws IllegalArgumentException if the path is longer than 107 bytes
   * @throws NativeException EADDRINUSE if somebody listens there, EEXIST if it is not a socket
   */
  public static UnixListener listen(Path path, int mode, int backlog) {
    UnixPath.check(path);
    Path absolute = path.toAbsolutePath();
    Fd directory = lockDirectory(absolute);
    try (directory) {
      removeStale(path);
      return bind(path, mode, backlog);
    }
  }

  private static UnixListener bind(Path path, int mode, int backlog) {
    Fd fd = UnixPath.socket(0);
    boolean bound = false;
    boolean listening = false;
    try {
      // The kernel makes the file with the mode of the socket itself, less the umask: so it is
      // never wider than asked for. chmod then gives back what the umask took.
      check("fchmod(" + fd + ")", FileCalls.fchmod(fd.number(), mode));
      check("bind(" + path + ")", UnixPath.bind(fd, path));
      bound = true;
      check("chmod(" + path + ")", FileCalls.chmod(path.toString(), mode));
      check("listen(" + path + ")", SocketCalls.listen(fd.number(), backlog));
      UnixListener listener = new UnixListener(fd, path, identity(path));
      listening = true;
      return listener;
    } catch (IOException e) {
      throw new UncheckedIOException("socket " + path + " vanished while it was made", e);
    } finally {
      if (!listening) {
        fd.close();
        if (bound) {
          delete(path);
        }
      }
    }
  }

  /** Serialises who looks for a stale file and who makes one, so that none removes a new one. */
  private static Fd lockDirectory(Path path) {
    Path parent = path.getParent();
    String directory = parent == null ? "/" : parent.toString();
    int result = FileCalls.open(directory);
    if (result < 0) {
      throw new NativeException(
          "open(" + directory + ")", -result, "create the directory of the socket, readable");
    }
    Fd fd = Fd.adopt(result);
    Deadline deadline = Deadline.after(LOCK_NANOS);
    while (true) {
      int locked = FileCalls.tryLock(fd.number());
      if (locked >= 0) {
        return fd;
      }
      if ((locked != -Errno.EAGAIN && locked != -Errno.EINTR) || deadline.passed()) {
        fd.close();
        throw new NativeException(
            "flock(" + directory + ")", -locked, "another process holds it; use another directory");
      }
      LockSupport.parkNanos(LOCK_RETRY_NANOS);
    }
  }

  private static void removeStale(Path path) {
    try {
      Object mode = Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
      if (((Integer) mode & FILE_TYPE) != SOCKET_TYPE) {
        throw new NativeException(
            "listen(" + path + ")", Errno.EEXIST, "it is not a socket; choose another path");
      }
    } catch (NoSuchFileException e) {
      return;
    } catch (IOException e) {
      throw new UncheckedIOException("socket path " + path + ": can not be looked at", e);
    }
    int result;
    try (Fd probe = UnixPath.socket(SocketCalls.SOCK_NONBLOCK)) {
      result = UnixPath.connect(probe, path);
    }
    if (result == -Errno.ECONNREFUSED) {
      delete(path);
    } else if (result != -Errno.ENOENT) {
      throw new NativeException(
          "listen(" + path + ")",
          Errno.EADDRINUSE,
          "it is in use by a living listener; stop that one or choose another path");
    }
  }

  /**
   * Waits for a connection.
   *
   * @return the connection, which the caller owns; null once this is closed
   * @throws NativeException EMFILE and the like; the listener goes on
   */
  public @Nullable UnixStream accept() {
    Fd accepted = TcpListener.accept(fd);
    return accepted == null ? null : new UnixStream(accepted);
  }

  /** The path that was listened on. */
  public Path path() {
    return path;
  }

  /** The descriptor, to add to a {@link Poll}; still owned here. */
  public Fd fd() {
    return fd;
  }

  /**
   * Stops listening, removes the file if it is still this listener's, and lets threads in {@link
   * #accept()} return null. Accepted connections live on.
   *
   * @throws IllegalStateException if already closed
   */
  @Override
  public void close() {
    Fd directory = fd.isOpen() ? tryLockDirectory() : null;
    try {
      if (directory != null && isOwnFile()) {
        delete(path);
      }
      Shutdown.BOTH.apply(fd);
      fd.close();
    } finally {
      if (directory != null) {
        directory.close();
      }
    }
  }

  @Override
  public String toString() {
    return "unix listener " + path;
  }

  /** Without the lock the file is left for the next listener, who finds it stale. */
  private @Nullable Fd tryLockDirectory() {
    try {
      return lockDirectory(path.toAbsolutePath());
    } catch (NativeException e) {
      return null;
    }
  }

  private boolean isOwnFile() {
    try {
      return identity(path).equals(file);
    } catch (IOException e) {
      return false;
    }
  }

  private static Object identity(Path path) throws IOException {
    return Map.copyOf(Files.readAttributes(path, "unix:dev,ino,ctime", LinkOption.NOFOLLOW_LINKS));
  }

  private static void delete(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw new UncheckedIOException("socket " + path + ": can not be removed", e);
    }
  }

  private static void check(String call, int result) {
    if (result < 0) {
      throw new NativeException(call, -result);
    }
  }
}
