package io.orbitkv.manager.control;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * How control streams are protected, on both of their ends.
 *
 * @param server what the control server shows and demands
 * @param channel what a requester shows and demands
 */
public record ControlSecurity(ServerCredentials server, ChannelCredentials channel) {
  /** Neither encrypted nor authenticated: for a network whose every host is trusted. */
  public static ControlSecurity plaintext() {
    return new ControlSecurity(
        InsecureServerCredentials.create(), InsecureChannelCredentials.create());
  }

  /**
   * Mutual TLS: each side must show a certificate that the roots vouch for, and the server's must
   * name the host of its control address.
   *
   * @param certificate this host's chain, PEM
   * @param privateKey its key, PEM (PKCS#8, unencrypted)
   * @param roots whom to trust, PEM
   * @throws TransportException INVALID if a file can not be read
   */
  public static ControlSecurity mutualTls(Path certificate, Path privateKey, Path roots) {
    try {
      return new ControlSecurity(
          TlsServerCredentials.newBuilder()
              .keyManager(certificate.toFile(), privateKey.toFile())
              .trustManager(roots.toFile())
              .clientAuth(TlsServerCredentials.ClientAuth.REQUIRE)
              .build(),
          TlsChannelCredentials.newBuilder()
              .keyManager(certificate.toFile(), privateKey.toFile())
              .trustManager(roots.toFile())
              .build());
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.INVALID,
          "TLS files of the control plane can not be read: "
              + e.getMessage()
              + "; name a readable certificate, key and roots",
          e);
    }
  }
}
