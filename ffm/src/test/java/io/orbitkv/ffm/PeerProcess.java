package io.orbitkv.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The other process of a test. Its exit code tells which step was wrong; {@link #RIGHT} if none.
 */
final class PeerProcess {
  static final int RIGHT = 7;
  static final long PATTERN = 0x0123_4567_89ab_cdefL;

  private PeerProcess() {}

  /** Starts one; {@code prefix} is put before the command, to take rights away. */
  static Process start(List<String> prefix, String jvmFlag, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:TieredStopAtLevel=1");
    command.add(jvmFlag);
    command.add("-cp");
    command.add(home(Fd.class) + ":" + home(PeerProcess.class));
    command.add(PeerProcess.class.getName());
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).inheritIO().start();
  }

  private static String home(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  public static void main(String[] arguments) throws Exception {
    int code =
        switch (arguments[0]) {
          case "share" -> share(Path.of(arguments[1]));
          case "exhaust" -> exhaust(Path.of(arguments[1]));
          case "lock" -> lock();
          default -> 1;
        };
    System.exit(code);
  }

  /** Sends its pidfd; gets a sealed memfd and an event; looks, answers, and waits to be let go. */
  private static int share(Path path) throws Exception {
    try (UnixStream stream = UnixStream.connect(path);
        PidFd self = PidFd.openSelf();
        Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(16);
      stream.sendFully(bytes, 0, 1, self.fd());
      List<Fd> got = new ArrayList<>();
      if (stream.receiveFully(bytes, 0, 16, got) != 16 || got.size() != 3) {
        return 10;
      }
      for (Fd fd : got) {
        String info = Files.readString(Path.of("/proc/self/fdinfo/" + fd.number()));
        if (!info.matches("(?s).*flags:\\s+\\d*2\\d{6}\\n.*")) {
          return 11; // not close-on-exec
        }
      }
      try (Fd sealed = got.get(0);
          Fd open = got.get(1);
          EventFd event = EventFd.adopt(got.get(2))) {
        if (Memfd.seals(sealed)
            != (Memfd.F_SEAL_SHRINK | Memfd.F_SEAL_GROW | Memfd.F_SEAL_FUTURE_WRITE)) {
          return 12;
        }
        try {
          Mapping.map(sealed, 0, Memfd.size(sealed), Protection.READ_WRITE, false).close();
          return 13;
        } catch (NativeException e) {
          if (e.errno() != Errno.EPERM) {
            return 14;
          }
        }
        try (Mapping in = Mapping.map(sealed, 0, Memfd.size(sealed), Protection.READ, true);
            Mapping out = Mapping.map(open, 0, Memfd.size(open), Protection.READ_WRITE, true)) {
          if (in.segment().get(JAVA_LONG, 8) != PATTERN) {
            return 15;
          }
          out.segment().set(JAVA_LONG, 8, ~PATTERN);
          event.signal();
          out.segment().set(JAVA_INT, 64, 1);
          Futex.wake(out.segment(), 64, 1);
          return stream.receiveFully(bytes, 0, 1) == 1 ? RIGHT : 16;
        }
      }
    }
  }

  /** Has no number left for the descriptors that arrive. */
  private static int exhaust(Path path) throws Exception {
    try (UnixStream stream = UnixStream.connect(path);
        Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(16);
      warmUp(path);
      List<Fd> filler = new ArrayList<>();
      try {
        while (true) {
          filler.add(stream.fd().duplicate());
        }
      } catch (NativeException e) {
        if (e.errno() != Errno.EMFILE) {
          return 20;
        }
      }
      filler.removeLast().close();
      filler.removeLast().close();
      List<Fd> got = new ArrayList<>();
      try {
        stream.receive(bytes, 0, 16, got);
        return 21;
      } catch (NativeException e) {
        if (e.errno() != Errno.EMFILE || !got.isEmpty()) {
          return 22;
        }
      }
      // What arrived was closed again: exactly two numbers are free.
      filler.add(stream.fd().duplicate());
      filler.add(stream.fd().duplicate());
      try {
        stream.fd().duplicate();
        return 23;
      } catch (NativeException e) {
        filler.forEach(Fd::close);
        return e.errno() == Errno.EMFILE ? RIGHT : 24;
      }
    }
  }

  /** Loads the classes that a full table of descriptors would keep from being read. */
  private static void warmUp(Path path) throws Exception {
    try (Stream<Path> _ = Files.list(path.getParent());
        Arena arena = Arena.ofConfined();
        UnixListener listener = UnixStream.listen(Path.of(path + "2"), 0600, 1);
        UnixStream one = UnixStream.connect(listener.path());
        UnixStream two = Eventually.present(listener.accept())) {
      MemorySegment bytes = arena.allocate(1);
      one.sendFully(bytes, 0, 1, one.fd());
      List<Fd> got = new ArrayList<>();
      long _ = two.receive(bytes, 0, 1, got);
      got.forEach(Fd::close);
      var _ = new NativeException("x", Errno.EMFILE, "y");
    }
  }

  /** Runs without the right to lock memory. */
  private static int lock() {
    try (Fd fd = Memfd.create("ffm-test", 1 << 20);
        Mapping mapping = Mapping.map(fd, 0, 1 << 20, Protection.READ_WRITE, true)) {
      if (mapping.lock()) {
        return 30;
      }
      String refusal = mapping.lockRefusal();
      mapping.segment().set(JAVA_BYTE, 0, (byte) 1);
      boolean complete =
          refusal != null && refusal.contains("mlock(1048576 bytes)") && refusal.contains("ulimit");
      return complete ? RIGHT : 31;
    }
  }
}
