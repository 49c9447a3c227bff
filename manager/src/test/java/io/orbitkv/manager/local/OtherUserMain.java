package io.orbitkv.manager.local;

import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.UnixListener;
import io.orbitkv.ffm.UnixStream;
import java.nio.file.Path;

/**
 * A process of another user: {@code client SOCKET MANAGER_UID} says how its connecting ended,
 * {@code squat SOCKET} listens there.
 */
final class OtherUserMain {
  private OtherUserMain() {}

  public static void main(String[] arguments) {
    Path socket = Path.of(arguments[1]);
    if (arguments[0].equals("client")) {
      ClientOptions options = ClientOptions.DEFAULTS.withManagerUid(Integer.parseInt(arguments[2]));
      try (ManagerClient client = ManagerClient.connect(socket, options)) {
        client.ping();
        System.out.println("welcome");
      } catch (TransportException e) {
        System.out.println(e.code() + " " + e.getMessage());
      }
    } else {
      squat(socket);
    }
  }

  private static void squat(Path socket) {
    try (UnixListener listener = UnixStream.listen(socket, 0666, 8)) {
      System.out.println("ready");
      while (true) {
        UnixStream stream = listener.accept();
        if (stream != null) {
          System.out.println("met " + (stream.peerCredentials().uid() == 0 ? "root" : "another"));
        }
      }
    } catch (NativeException e) {
      System.out.println(e.getMessage());
    }
  }
}
