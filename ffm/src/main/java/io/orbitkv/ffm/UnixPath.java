package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Unix sockets by path: struct sockaddr_un of linux/un.h. */
final class UnixPath {
  private static final int LIMIT = 108; // sizeof(sun_path), its NUL included
  private static final int PATH_AT = 2;

  private static final MethodHandle GETEUID = Downcall.bind("geteuid", JAVA_INT);

  private UnixPath() {}

  static Fd socket(int flags) {
    int type = SocketCalls.SOCK_STREAM | SocketCalls.SOCK_CLOEXEC | flags;
    return Fd.adoptResult("socket(AF_UNIX)", SocketCalls.socket(SocketCalls.AF_UNIX, type));
  }

  static int connect(Fd fd, Path path) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = encode(path, arena);
      int result;
      do {
        result = SocketCalls.connect(fd.number(), address);
      } while (result == -Errno.EINTR);
      return result;
    }
  }

  static int bind(Fd fd, Path path) {
    try (Arena arena = Arena.ofConfined()) {
      return SocketCalls.bind(fd.number(), encode(path, arena));
    }
  }

  static void check(Path path) {
    int bytes = path.toString().getBytes(StandardCharsets.UTF_8).length;
    if (bytes == 0 || bytes >= LIMIT) {
      throw new IllegalArgumentException(
          "socket path "
              + path
              + ": "
              + bytes
              + " bytes, and the kernel's limit is 1 to "
              + (LIMIT - 1)
              + "; use a shorter directory");
    }
  }

  static int currentUid() {
    CallState own = CallState.own();
    try {
      return (int) GETEUID.invokeExact(own.capture);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static MemorySegment encode(Path path, Arena arena) {
    check(path);
    byte[] bytes = path.toString().getBytes(StandardCharsets.UTF_8);
    MemorySegment address = arena.allocate(PATH_AT + bytes.length + 1L, 8);
    address.set(JAVA_SHORT, 0, (short) SocketCalls.AF_UNIX);
    MemorySegment.copy(bytes, 0, address, JAVA_BYTE, PATH_AT, bytes.length);
    return address;
  }
}
