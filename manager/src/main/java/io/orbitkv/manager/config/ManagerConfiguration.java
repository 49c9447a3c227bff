package io.orbitkv.manager.config;

import io.orbitkv.api.spi.OptionSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Everything that a Manager is told at its start. Checked and immutable; {@link Settings} says what
 * each value means and what it is if nobody says otherwise.
 *
 * @param host IP literal where the Manager listens; peers reach it there, unless {@code advertise}
 * @param port port of the control listener; 0 takes any that is free
 * @param advertise IP literal to publish instead of {@code host}
 * @param socket where engine processes attach, if it was said: see {@link #socketPath(int)}
 * @param socketMode file mode of that socket, permission bits only
 * @param socketOwner user who owns that socket's file, if it is not this process's own
 * @param socketGroup group of that socket's file, whose members may attach
 * @param allowedUids ids of the users, other than its own, whose processes may attach
 * @param poolBytes memory of the pool, whole pages
 * @param backend name of the provider
 * @param providerOptions its options by full name, every one present, defaults filled in
 * @param membership how it learns of other Managers; {@code NONE} starts no control listener
 * @param peers control addresses of the other Managers; empty unless {@code STATIC}
 * @param registryDirectory where the Managers of this host find each other
 * @param pluginDirs further folders of plugins
 * @param grantLifetime life of a grant's token
 * @param retirementGrace from a token's retirement to the forced end of a connection
 * @param sourceCloseDeadline wait for the source side at shutdown
 * @param operationDeadline when an operation is answered whose engine names no time
 * @param leaseLifetime life of a lease
 * @param transferProgressTimeout time without progress after which a transfer is cancelled
 * @param maxGrantsPerPeer source grants open to one peer
 * @param maxPinnedBytesPerPeer memory pinned for one peer, bytes
 * @param maxLiveBatches live and retained batches of the transport
 * @param maxDescriptorBytes their descriptors, bytes
 * @param maxReadBytes payload of one READ, bytes
 * @param sessions sessions mapped at once, live or retained
 * @param sessionLimits what one of them may have outstanding
 * @param digest of which published blocks a digest is taken
 * @param rehearsal whether fetches are rehearsed at the start
 * @param logFormat {@code text} or {@code json}
 * @param logLevel {@code error} to {@code trace}
 */
public record ManagerConfiguration(
    String host,
    int port,
    Optional<String> advertise,
    Optional<Path> socket,
    int socketMode,
    OptionalInt socketOwner,
    OptionalInt socketGroup,
    Set<Long> allowedUids,
    long poolBytes,
    String backend,
    Map<String, String> providerOptions,
    MembershipKind membership,
    List<HostPort> peers,
    Path registryDirectory,
    List<Path> pluginDirs,
    Duration grantLifetime,
    Duration retirementGrace,
    Duration sourceCloseDeadline,
    Duration operationDeadline,
    Duration leaseLifetime,
    Duration transferProgressTimeout,
    int maxGrantsPerPeer,
    long maxPinnedBytesPerPeer,
    int maxLiveBatches,
    long maxDescriptorBytes,
    long maxReadBytes,
    int sessions,
    SessionLimits sessionLimits,
    DigestPolicy digest,
    boolean rehearsal,
    String logFormat,
    String logLevel) {
  /** Copies the collections. */
  public ManagerConfiguration {
    allowedUids = Set.copyOf(allowedUids);
    providerOptions = Map.copyOf(providerOptions);
    peers = List.copyOf(peers);
    pluginDirs = List.copyOf(pluginDirs);
  }

  /**
   * Reads and checks all values.
   *
   * @throws ConfigurationException naming the first setting that is wrong, the cause and the fix
   */
  public static ManagerConfiguration of(SettingValues values) {
    ConfigurationChecks.check(values);
    return new ManagerConfiguration(
        IpLiteral.text(values.get(Settings.HOST)),
        values.get(Settings.PORT),
        values.get(Settings.ADVERTISE).map(IpLiteral::text),
        values.get(Settings.SOCKET),
        values.get(Settings.SOCKET_MODE),
        values.get(Settings.SOCKET_OWNER),
        values.get(Settings.SOCKET_GROUP),
        Set.copyOf(values.list(Settings.ALLOWED_UIDS)),
        values.poolBytes(),
        values.get(Settings.BACKEND),
        ConfigurationChecks.providerOptions(values),
        values.get(Settings.MEMBERSHIP),
        values.list(Settings.PEERS),
        values.get(Settings.REGISTRY_DIRECTORY),
        values.list(Settings.PLUGIN_DIRS),
        values.get(Settings.GRANT_LIFETIME),
        values.get(Settings.RETIREMENT_GRACE),
        values.get(Settings.SOURCE_CLOSE_DEADLINE),
        values.get(Settings.OPERATION_DEADLINE),
        values.get(Settings.LEASE_LIFETIME),
        values.get(Settings.TRANSFER_PROGRESS_TIMEOUT),
        values.get(Settings.MAX_GRANTS_PER_PEER),
        values.get(Settings.MAX_PINNED_BYTES_PER_PEER),
        values.get(Settings.MAX_LIVE_BATCHES),
        values.get(Settings.MAX_DESCRIPTOR_BYTES),
        values.get(Settings.MAX_READ_BYTES),
        values.get(Settings.SESSIONS),
        SessionLimits.of(values),
        values.get(Settings.DIGEST),
        values.get(Settings.REHEARSAL),
        values.get(Settings.LOG_FORMAT),
        values.get(Settings.LOG_LEVEL));
  }

  /**
   * A configuration that comes from the program itself and not from a command: no environment, no
   * file.
   *
   * @param values by the names of {@link Settings} and of the provider's options
   * @param options the options of the provider that is the backend
   * @throws ConfigurationException as for {@link #of(SettingValues)}
   */
  public static ManagerConfiguration of(Map<String, String> values, List<OptionSpec> options) {
    String backend = values.getOrDefault(Settings.BACKEND.name(), "orbitte-tcp");
    return of(SettingValues.resolve(values, Map.of(), Map.of(backend, options)));
  }

  /** IP literal that peers are told. */
  public String publishedHost() {
    return advertise.orElse(host);
  }

  /**
   * Where engine processes attach.
   *
   * @param boundPort port of the control listener once it is bound; 0 if there is none
   */
  public Path socketPath(int boundPort) {
    return socket.orElseGet(() -> defaultSocket(host, boundPort));
  }

  /** Without a port two Managers differ by their processes. */
  static Path defaultSocket(String host, int port) {
    String which = port == 0 ? "pid" + ProcessHandle.current().pid() : Integer.toString(port);
    return Path.of("/tmp/orbitkv-" + host + "-" + which + ".sock");
  }
}
