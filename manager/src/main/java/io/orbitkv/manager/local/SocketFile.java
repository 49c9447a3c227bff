package io.orbitkv.manager.local;

import io.orbitkv.adapter.ChannelConfig;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Errno;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.UnixListener;
import io.orbitkv.ffm.UnixStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;

/** Makes the socket's file with the right owner and mode. */
final class SocketFile {
  private static final int GROUP_BITS = 0070;

  private SocketFile() {}

  static UnixListener listen(Path socket, LocalOptions options, int backlog) {
    Optional<ChannelConfig> domain = ChannelConfig.ofProcess();
    domain.ifPresent(config -> config.check(socket));
    // Group bits come only once the group is right.
    boolean grouped = options.group().isPresent();
    int first = grouped ? options.mode() & ~GROUP_BITS : options.mode();
    UnixListener listener = listen(socket, first, backlog);
    boolean done = false;
    try {
      domain.ifPresent(config -> config.check(socket));
      give(socket, options);
      done = true;
      return listener;
    } finally {
      if (!done) {
        listener.close();
      }
    }
  }

  private static UnixListener listen(Path socket, int mode, int backlog) {
    try {
      return UnixStream.listen(socket, mode, backlog);
    } catch (NativeException e) {
      FaultCode code = e.errno() == Errno.EADDRINUSE ? FaultCode.IN_USE : FaultCode.DEVICE;
      throw new TransportException(code, String.valueOf(e.getMessage()), e);
    } catch (IllegalArgumentException e) {
      throw new TransportException(FaultCode.INVALID, String.valueOf(e.getMessage()), e);
    } catch (UncheckedIOException e) {
      throw new TransportException(FaultCode.DEVICE, String.valueOf(e.getMessage()), e);
    }
  }

  private static void give(Path socket, LocalOptions options) {
    if (options.group().isPresent()) {
      int group = options.group().getAsInt();
      own(socket, "unix:gid", group, "group " + group + "; name a group of this user");
      try {
        Files.setAttribute(socket, "unix:mode", options.mode());
      } catch (IOException e) {
        throw failed(
            socket, "its mode, 0" + Integer.toOctalString(options.mode()) + "; look why", e);
      }
    }
    if (options.owner().isPresent()) {
      int owner = options.owner().getAsInt();
      own(socket, "unix:uid", owner, "user " + owner + "; run as root, or as that user");
    }
  }

  private static void own(Path socket, String attribute, int value, String whatAndFix) {
    try {
      Files.setAttribute(socket, attribute, value, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      throw failed(socket, whatAndFix, e);
    }
  }

  private static TransportException failed(Path socket, String whatAndFix, IOException cause) {
    return new TransportException(
        FaultCode.DENIED, "socket " + socket + ": it can not be given to " + whatAndFix, cause);
  }
}
