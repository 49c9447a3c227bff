package io.orbitkv.manager.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which users meet, with a second user who is real. */
@Timeout(180)
final class AccessTest {
  private static final int EVERYBODY = 0666;
  private static final String NO_GROUPS = "--clear-groups";
  private static final OptionalInt NONE = OptionalInt.empty();

  private Path directory;
  private Path socket;

  @BeforeEach
  void prepare(@TempDir Path temporary) throws Exception {
    OtherUser.assume();
    directory = temporary;
    socket = directory.resolve("m.sock");
    OtherUser.prepare(directory);
  }

  private LocalServer serve(
      ReferenceBlocks blocks, int mode, OptionalInt owner, OptionalInt group, Set<Long> users) {
    LocalOptions options = LocalOptions.DEFAULTS.withAccess(mode, owner, group, users);
    return LocalServer.start(socket, options, Epoch.random(), blocks);
  }

  private String connecting(String groups, int managerUid) throws Exception {
    Process client =
        OtherUser.start(directory, groups, "client", socket.toString(), String.valueOf(managerUid));
    try {
      String line = EngineMain.firstLine(client);
      assertThat(client.waitFor(20, TimeUnit.SECONDS)).isTrue();
      return line;
    } finally {
      client.destroyForcibly().waitFor();
    }
  }

  // Guard: Admission.check in Greeting. Without it this user, whom the file lets in, is welcomed.
  @Test
  void anotherUserIsRefusedThoughTheFileLetsItIn() throws Exception {
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer server = serve(blocks, EVERYBODY, NONE, NONE, Set.of())) {
      assertThat(connecting(NO_GROUPS, 0))
          .startsWith("DENIED")
          .contains("user " + OtherUser.UID + " is not admitted")
          .contains("--allowed-uids " + OtherUser.UID);
      assertThat(server.sessions()).isZero();
    }
  }

  // Guard: the mode in SocketFile.listen: with 0666 the first is refused by the Manager and not by
  // the file.
  @Test
  void theFileAloneKeepsAnotherUserOut() throws Exception {
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer server = serve(blocks, 0600, NONE, NONE, Set.of((long) OtherUser.UID))) {
      assertThat(connecting(NO_GROUPS, 0)).contains("EACCES");
      assertThat(server.sessions()).isZero();
    }
  }

  // Guard: the users in Admission.check.
  @Test
  void aFurtherUserIsAdmittedByItsNumber() throws Exception {
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer _ = serve(blocks, EVERYBODY, NONE, NONE, Set.of((long) OtherUser.UID))) {
      assertThat(connecting(NO_GROUPS, 0)).isEqualTo("welcome");
    }
  }

  // Guards: SocketFile.give and the owner in Admission.check.
  @Test
  void theSocketsOwnerIsAdmitted() throws Exception {
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer _ = serve(blocks, 0600, OptionalInt.of(OtherUser.UID), NONE, Set.of())) {
      assertThat(Files.getAttribute(socket, "unix:uid")).isEqualTo(OtherUser.UID);
      assertThat((int) Files.getAttribute(socket, "unix:mode") & 0777).isEqualTo(0600);
      assertThat(connecting(NO_GROUPS, 0)).isEqualTo("welcome");
      ManagerClient.connect(socket, ClientOptions.DEFAULTS).close();
    }
  }

  // Guard: SO_PEERGROUPS in Admission.check: by its first group alone this user is refused.
  @Test
  void aMemberOfTheSocketsGroupIsAdmittedAndNobodyElse() throws Exception {
    OptionalInt group = OptionalInt.of(OtherUser.SECOND_GROUP);
    try (ReferenceBlocks blocks = new ReferenceBlocks(1 << 20);
        LocalServer _ = serve(blocks, 0660, NONE, group, Set.of())) {
      assertThat(Files.getAttribute(socket, "unix:gid")).isEqualTo(OtherUser.SECOND_GROUP);
      assertThat((int) Files.getAttribute(socket, "unix:mode") & 0777).isEqualTo(0660);
      assertThat(connecting("--groups=" + OtherUser.SECOND_GROUP, 0)).isEqualTo("welcome");
      assertThat(connecting(NO_GROUPS, 0)).contains("EACCES");
    }
  }

  // Guard: Bootstrap.checkUser. Without it the client tells the squatter who it is and waits.
  @Test
  void aSquatterOnThePathIsRefusedByTheClient() throws Exception {
    Path open = Files.createDirectory(directory.resolve("open"));
    OtherUser.openForWriting(open);
    Path squatted = open.resolve("m.sock");
    Process squatter = OtherUser.start(directory, NO_GROUPS, "squat", squatted.toString());
    try (var lines = squatter.inputReader(StandardCharsets.UTF_8)) {
      assertThat(lines.readLine()).isEqualTo("ready");
      assertThatThrownBy(() -> ManagerClient.connect(squatted, ClientOptions.DEFAULTS))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.DENIED))
          .hasMessageContaining("user " + OtherUser.UID)
          .hasMessageContaining(squatted.toString());
      assertThat(lines.readLine()).isEqualTo("met root");
    } finally {
      squatter.destroyForcibly().waitFor();
    }
  }
}
