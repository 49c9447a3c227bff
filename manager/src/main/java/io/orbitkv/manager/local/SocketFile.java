package io.orbitkv.manager.local;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.Errno;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.UnixListener;
import io.orbitkv.ffm.UnixStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes the socket's file with the right owner and mode. */
final class SocketFile {
  private static final int GROUP_BITS = 0070;

  private SocketFile() {}

  static UnixListener listen(Path socket, LocalOptions options, int backlog) {
    UnixListener listener;
    boolean grouped = options.group().isPresent();
    try {
      // Group bits come only once the group is right.
      int first = grouped ? options.mode() & ~GROUP_BITS : options.mode();
      listener = UnixStream.listen(socket, first, backlog);
    } catch (NativeException e) {
      FaultCode code = e.errno() == Errno.EADDRINUSE ? FaultCode.IN_USE : FaultCode.DEVICE;
      throw new TransportException(code, String.valueOf(e.getMessage()), e);
    } catch (IllegalArgumentException e) {
      throw new TransportException(FaultCode.INVALID, String.valueOf(e.getMessage()), e);
    } catch (UncheckedIOException e) {
      throw new TransportException(FaultCode.DEVICE, String.valueOf(e.getMessage()), e);
    }
    if (grouped) {
      boolean done = false;
      try {
        Files.setAttribute(socket, "unix:gid", options.group().getAsInt());
        Files.setAttribute(socket, "unix:mode", options.mode());
        done = true;
      } catch (IOException e) {
        throw new TransportException(
            FaultCode.DENIED,
            "socket "
                + socket
                + ": giving it to group "
                + options.group().getAsInt()
                + " failed; name a group of this user",
            e);
      } finally {
        if (!done) {
          listener.close();
        }
      }
    }
    return listener;
  }
}
