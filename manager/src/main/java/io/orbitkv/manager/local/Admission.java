package io.orbitkv.manager.local;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.ffm.PeerCredentials;
import io.orbitkv.ffm.UnixStream;
import java.util.stream.IntStream;

/** Whose processes may attach. */
final class Admission {
  private Admission() {}

  /**
   * Whether that process may: by its user, or by a group that it is in.
   *
   * @throws TransportException DENIED if not
   */
  static void check(PeerCredentials peer, UnixStream stream, LocalOptions options) {
    int uid = peer.uid();
    boolean admitted =
        uid == UnixStream.currentUid()
            || options.users().contains(Integer.toUnsignedLong(uid))
            || (options.owner().isPresent() && options.owner().getAsInt() == uid)
            || (options.group().isPresent() && isIn(options.group().getAsInt(), peer, stream));
    if (!admitted) {
      throw new TransportException(
          FaultCode.DENIED,
          "user "
              + uid
              + " is not admitted; run as user "
              + UnixStream.currentUid()
              + ", or start the Manager with --allowed-uids "
              + Integer.toUnsignedString(uid)
              + " or a --socket-group of that user");
    }
  }

  private static boolean isIn(int group, PeerCredentials peer, UnixStream stream) {
    return peer.gid() == group || IntStream.of(stream.peerGroups()).anyMatch(each -> each == group);
  }
}
