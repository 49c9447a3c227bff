package io.orbitkv.provider.tcp;

import io.orbitkv.ffm.Errno;
import io.orbitkv.ffm.NativeException;
import java.net.InetSocketAddress;

/**
 * Why the transport can not listen where it was told to.
 *
 * @param cause names the address that was asked for
 * @param fix the one thing to do
 */
record ListenFault(String cause, String fix) {
  static ListenFault of(InetSocketAddress asked, NativeException fault) {
    String fix =
        switch (fault.errno()) {
          case Errno.EADDRINUSE -> "stop what listens there, or name another port";
          case Errno.EADDRNOTAVAIL -> "name an address of this host in orbitte-tcp-listen";
          case Errno.EACCES -> "name a port from 1024 on in orbitte-tcp-listen";
          default -> "name another address in orbitte-tcp-listen";
        };
    return new ListenFault(
        "orbitte-tcp can not listen on %s: %s (%s)"
            .formatted(
                TcpEndpoint.text(asked), Errno.text(fault.errno()), Errno.name(fault.errno())),
        fix);
  }
}
