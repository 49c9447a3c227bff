package io.orbitkv.manager.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.ControlPlane.Requester;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Control streams under mutual TLS, with certificates made by the JDK's keytool. */
class MutualTlsTest {
  private static final String PASSWORD = "changeit";

  @TempDir Path temporary;

  /** A certificate that vouches for itself, and its key. */
  private record Identity(Path certificate, Path key) {}

  @Test
  void onlyPeersWithATrustedCertificateAreHeard() throws Exception {
    Identity trusted = identity("trusted");
    Identity stranger = identity("stranger");
    ScriptedManager a = new ScriptedManager("a:1");
    ScriptedManager b = new ScriptedManager("b:2");
    ControlSecurity members =
        ControlSecurity.mutualTls(trusted.certificate(), trusted.key(), trusted.certificate());
    // Trusts the server, and shows what the server does not trust.
    ControlSecurity intruder =
        ControlSecurity.mutualTls(stranger.certificate(), stranger.key(), trusted.certificate());
    Duration timeout = Duration.ofSeconds(10);
    try (ControlPlane plane = new ControlPlane()) {
      ControlServer server = plane.server(b, "127.0.0.1", 0, members);
      String address = ControlPlane.at(server);
      Requester unknown = plane.requester(new ScriptedManager("c:3"), timeout, intruder, address);
      Requester open =
          plane.requester(
              new ScriptedManager("d:4"), timeout, ControlSecurity.plaintext(), address);
      Requester member = plane.requester(a, timeout, members, address);
      ControlPlane.Event up = member.next("up");
      assertThat(up.hello().managerEpoch()).isEqualTo(b.epoch);
      assertThat(up.link().locate(java.util.List.of(ControlPlane.block(1))).get()).hasSize(1);
      assertThat(ControlPlane.take(b.accepted).managerName()).isEqualTo("a:1");
      assertThat(b.accepted).isEmpty();
      assertThat(unknown.links().up()).isEmpty();
      assertThat(open.links().up()).isEmpty();
    }
  }

  @Test
  void aMissingFileIsNamed() {
    Path missing = temporary.resolve("missing.pem");
    assertThatThrownBy(() -> ControlSecurity.mutualTls(missing, missing, missing))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("missing.pem");
  }

  private Identity identity(String name)
      throws IOException, InterruptedException, GeneralSecurityException {
    Path store = temporary.resolve(name + ".p12");
    int exit =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                name,
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + name,
                "-ext",
                "SAN=IP:127.0.0.1",
                "-ext",
                "BC=ca:true",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start()
            .waitFor();
    assertThat(exit).isZero();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return new Identity(
        pem(name + ".crt", "CERTIFICATE", keys.getCertificate(name).getEncoded()),
        pem(name + ".key", "PRIVATE KEY", keys.getKey(name, PASSWORD.toCharArray()).getEncoded()));
  }

  private Path pem(String file, String label, byte[] der) throws IOException {
    String body = Base64.getMimeEncoder().encodeToString(der);
    String text = "-----BEGIN %s-----%n%s%n-----END %s-----%n".formatted(label, body, label);
    return Files.writeString(temporary.resolve(file), text);
  }
}
