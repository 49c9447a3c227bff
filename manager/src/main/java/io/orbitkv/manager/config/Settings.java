package io.orbitkv.manager.config;

import java.net.InetAddress;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ToLongFunction;

/** Every setting of a Manager, in the order in which help and {@code --print-config} show them. */
public final class Settings {
  /** Where peers reach this Manager. */
  public static final Setting<InetAddress> HOST =
      Setting.of(
          "host",
          "IP",
          "127.0.0.1",
          IpLiteral::parseBracketed,
          "IP address at which peers reach this Manager, and where it listens");

  /** The control port. */
  public static final Setting<Integer> PORT =
      Setting.of(
          "port",
          "PORT",
          "0",
          text -> Numbers.port(text, 0),
          "TCP port of the control listener; 0 takes any that is free and publishes it");

  /** What is published instead of the host. */
  public static final Setting<Optional<InetAddress>> ADVERTISE =
      Setting.of(
              "advertise",
              "IP",
              "",
              Settings::advertised,
              "IP address to publish to peers where it differs from --host")
          .defaultsTo("the host", values -> "");

  /** Where engine processes attach. */
  public static final Setting<Optional<Path>> SOCKET =
      Setting.of(
              "socket",
              "PATH",
              "",
              Settings::optionalPath,
              "Unix socket at which engine processes attach; at most 107 bytes")
          .defaultsTo("/tmp/orbitkv-IP-PORT.sock; without a port IP-pidPID", values -> "");

  /** Mode of the Unix socket. */
  public static final Setting<Integer> SOCKET_MODE =
      Setting.of(
          "socket-mode", "MODE", "600", Numbers::mode, "file mode of the Unix socket, octal");

  /** Owner of the Unix socket. */
  public static final Setting<OptionalInt> SOCKET_OWNER =
      Setting.of(
              "socket-owner",
              "UID",
              "",
              text -> optionalId(text, Numbers::uid),
              "numeric id of the user who owns the Unix socket, and may attach")
          .defaultsTo("this user", values -> "");

  /** Group of the Unix socket. */
  public static final Setting<OptionalInt> SOCKET_GROUP =
      Setting.of(
              "socket-group",
              "GID",
              "",
              text -> optionalId(text, Numbers::gid),
              "numeric id of the group of the Unix socket, whose members may attach")
          .defaultsTo("this user's group, not admitted", values -> "");

  /** Who may attach. */
  public static final Setting<Long> ALLOWED_UIDS =
      Setting.of(
              "allowed-uids",
              "UID",
              "",
              Numbers::uid,
              "numeric ids of the further users whose processes may attach")
          .listedBy(',')
          .defaultsTo("this user alone", values -> "");

  /** The pool. */
  public static final Setting<Long> POOL_BYTES =
      Setting.of(
          "pool-bytes",
          "SIZE",
          "1GiB",
          Numbers::bytes,
          "memory of the pool in bytes, rounded up to whole pages; KiB, MiB, GiB, KB, MB, GB");

  /** The provider. */
  public static final Setting<String> BACKEND =
      Setting.of(
          "peer-transfer-backend",
          "NAME",
          "orbitte-tcp",
          Settings::backend,
          "provider that moves blocks between hosts; no other is ever used in its place");

  /** Devices of the mooncake provider. */
  public static final Setting<String> NICS =
      Setting.of(
              "nics",
              "NAME",
              "",
              text -> text,
              "network devices that the provider mooncake may use")
          .listedBy(',')
          .defaultsTo("all", values -> "");

  /** Folders of plugins. */
  public static final Setting<Path> PLUGIN_DIRS =
      Setting.of(
              "plugin-dir", "DIR", "", Settings::path, "further folder of plugins, or one plugin")
          .listedBy(':')
          .defaultsTo("none", values -> "");

  /** How it learns of other Managers. */
  public static final Setting<MembershipKind> MEMBERSHIP =
      Setting.of(
              "membership",
              "KIND",
              "",
              Settings::membership,
              "how it learns of other Managers: local (those of this host), static (--peers), none")
          .defaultsTo(
              "static with --peers, else local",
              values -> values.list(Settings.PEERS).isEmpty() ? "local" : "static");

  /** The fixed list of other Managers. */
  public static final Setting<HostPort> PEERS =
      Setting.of(
              "peers", "HOST:PORT", "", HostPort::parse, "control addresses of the other Managers")
          .listedBy(',')
          .defaultsTo("none", values -> "");

  /** Where the Managers of a host find each other. */
  public static final Setting<Path> REGISTRY_DIRECTORY =
      Setting.of(
              "registry-directory",
              "DIR",
              "",
              Settings::path,
              "folder in which the Managers of this host find each other")
          .defaultsTo(
              "$XDG_RUNTIME_DIR/orbitkv, else /tmp/orbitkv-UID",
              SettingValues::defaultRegistryDirectory);

  /** Life of a grant's token. */
  public static final Setting<Duration> GRANT_LIFETIME =
      time("grant-lifetime", "60s", "life of a grant's token; its end frees no memory");

  /** Grace after a retirement. */
  public static final Setting<Duration> RETIREMENT_GRACE =
      time(
          "retirement-grace",
          "5s",
          "from a token's retirement to the forced end of a connection that still serves it");

  /** Wait for the source side. */
  public static final Setting<Duration> SOURCE_CLOSE_DEADLINE =
      time(
          "source-close-deadline",
          "5s",
          "wait for the source side at shutdown; beyond it memory stays held");

  /** Deadline of an operation. */
  public static final Setting<Duration> OPERATION_DEADLINE =
      time("operation-deadline", "10s", "answer an operation by then, if its engine names no time");

  /** Life of a lease. */
  public static final Setting<Duration> LEASE_LIFETIME =
      time("lease-lifetime", "60s", "life of a lease that its engine does not renew");

  /** Transfer without progress. */
  public static final Setting<Duration> TRANSFER_PROGRESS_TIMEOUT =
      time(
          "transfer-progress-timeout", "5s", "cancel a transfer that made no progress for so long");

  /** Grants open to one peer. */
  public static final Setting<Integer> MAX_GRANTS_PER_PEER =
      count("max-grants-per-peer", "1024", "source grants open to one peer");

  /** Bytes pinned for one peer. */
  public static final Setting<Long> MAX_PINNED_BYTES_PER_PEER =
      size("max-pinned-bytes-per-peer", "", "memory pinned for one peer, bytes")
          .defaultsTo(
              "a quarter of the pool", values -> Numbers.text(Math.max(1, values.poolBytes() / 4)));

  /** Live and retained batches. */
  public static final Setting<Integer> MAX_LIVE_BATCHES =
      count("max-live-batches", "1024", "live and retained batches of the transport");

  /** Their descriptors. */
  public static final Setting<Long> MAX_DESCRIPTOR_BYTES =
      size("max-descriptor-bytes", "32MiB", "descriptors of these batches, bytes");

  /** Payload of one READ. */
  public static final Setting<Long> MAX_READ_BYTES =
      size("max-read-bytes", "64MiB", "payload of one READ, bytes; larger asks are partitioned");

  /** Sessions. */
  public static final Setting<Integer> SESSIONS =
      Setting.of(
          "sessions",
          "N",
          "64",
          text -> Numbers.whole(text, 1, 4_096),
          "sessions mapped at once, live or retained, at most 4096");

  /** Pending queries of one session. */
  public static final Setting<Integer> QUERIES_PER_SESSION =
      count("queries-per-session", "128", "queries of one session that are not answered yet");

  /** Pending queries. */
  public static final Setting<Integer> QUERIES =
      count("queries", "1024", "queries of all sessions that are not answered yet");

  /** Pending publishes of one session. */
  public static final Setting<Integer> PUBLISHES_PER_SESSION =
      count("publishes-per-session", "1024", "publishes of one session not answered yet");

  /** What pending commands hold. */
  public static final Setting<Long> COMMAND_BYTES_PER_SESSION =
      size(
          "command-bytes-per-session",
          "32MiB",
          "metadata of one session's pending commands, bytes");

  /** Leases of one session. */
  public static final Setting<Integer> LEASES_PER_SESSION =
      count("leases-per-session", "16384", "leases of one session that are not released yet");

  /** Registrations of one session. */
  public static final Setting<Integer> REGISTRATIONS_PER_SESSION =
      count("registrations-per-session", "1024", "memory registrations of one session");

  /** What they cover. */
  public static final Setting<Long> REGISTERED_BYTES_PER_SESSION =
      size("registered-bytes-per-session", "1024GiB", "memory that one session registers, bytes");

  /** Which blocks get a digest. */
  public static final Setting<DigestPolicy> DIGEST =
      Setting.of(
          "digest",
          "WHEN",
          "asked",
          text ->
              DigestPolicy.valueOf(
                  oneOf(text, List.of("asked", "always")).toUpperCase(Locale.ROOT)),
          "take a digest (CRC32C) of a published block: asked (by its engine), always");

  /** Format of the log. */
  public static final Setting<String> LOG_FORMAT =
      Setting.of(
          "log-format",
          "FORMAT",
          "text",
          text -> oneOf(text, List.of("text", "json")),
          "lines of the log on stderr: text or json");

  /** Whether fetches are rehearsed at the start. */
  public static final Setting<Boolean> REHEARSAL =
      Setting.of(
          "rehearsal",
          "MODE",
          "off",
          text -> oneOf(text, List.of("on", "off")).equals("on"),
          "on: once it serves, fetches between two small Managers in its own process have the JVM"
              + " compile what the first real ones need; some seconds of a processor");

  /** Level of the log. */
  public static final Setting<String> LOG_LEVEL =
      Setting.of(
          "log-level",
          "LEVEL",
          "info",
          text -> oneOf(text, List.of("error", "warn", "info", "debug", "trace")),
          "least level of the log: error, warn, info, debug or trace");

  /** All of them. */
  public static final List<Setting<?>> ALL =
      List.of(
          HOST,
          PORT,
          ADVERTISE,
          SOCKET,
          SOCKET_MODE,
          SOCKET_OWNER,
          SOCKET_GROUP,
          ALLOWED_UIDS,
          POOL_BYTES,
          BACKEND,
          NICS,
          PLUGIN_DIRS,
          MEMBERSHIP,
          PEERS,
          REGISTRY_DIRECTORY,
          GRANT_LIFETIME,
          RETIREMENT_GRACE,
          SOURCE_CLOSE_DEADLINE,
          OPERATION_DEADLINE,
          LEASE_LIFETIME,
          TRANSFER_PROGRESS_TIMEOUT,
          MAX_GRANTS_PER_PEER,
          MAX_PINNED_BYTES_PER_PEER,
          MAX_LIVE_BATCHES,
          MAX_DESCRIPTOR_BYTES,
          MAX_READ_BYTES,
          SESSIONS,
          QUERIES_PER_SESSION,
          QUERIES,
          PUBLISHES_PER_SESSION,
          COMMAND_BYTES_PER_SESSION,
          LEASES_PER_SESSION,
          REGISTRATIONS_PER_SESSION,
          REGISTERED_BYTES_PER_SESSION,
          DIGEST,
          REHEARSAL,
          LOG_FORMAT,
          LOG_LEVEL);

  private Settings() {}

  private static Setting<Duration> time(String name, String defaultText, String description) {
    return Setting.of(name, "TIME", defaultText, Numbers::duration, description);
  }

  private static Setting<Long> size(String name, String defaultText, String description) {
    return Setting.of(name, "SIZE", defaultText, Numbers::bytes, description);
  }

  private static Setting<Integer> count(String name, String defaultText, String description) {
    return Setting.of(
        name, "N", defaultText, text -> Numbers.whole(text, 1, 1_000_000), description);
  }

  private static Optional<InetAddress> advertised(String text) {
    return text.isEmpty() ? Optional.empty() : Optional.of(IpLiteral.parseBracketed(text));
  }

  private static Optional<Path> optionalPath(String text) {
    return text.isEmpty() ? Optional.empty() : Optional.of(path(text));
  }

  /** Ids are unsigned, and the kernel's type for them is as wide as an int. */
  private static OptionalInt optionalId(String text, ToLongFunction<String> parser) {
    return text.isEmpty() ? OptionalInt.empty() : OptionalInt.of((int) parser.applyAsLong(text));
  }

  private static Path path(String text) {
    try {
      if (!text.isEmpty()) {
        return Path.of(text).toAbsolutePath().normalize();
      }
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("is no path: " + e.getReason() + "; write another", e);
    }
    throw new IllegalArgumentException("is no path; write one");
  }

  private static String backend(String text) {
    if (!text.matches("[a-z][a-z0-9]*(-[a-z0-9]+)*")) {
      throw new IllegalArgumentException(
          "is not a provider's name; 'orbitkv providers' lists those that there are");
    }
    return text;
  }

  private static MembershipKind membership(String text) {
    if (text.startsWith("etcd:")) {
      throw new IllegalArgumentException(
          "is not available in this version; list the other Managers with --peers instead");
    }
    return MembershipKind.valueOf(
        oneOf(text, List.of("local", "static", "none")).toUpperCase(Locale.ROOT));
  }

  private static String oneOf(String text, List<String> choices) {
    if (!choices.contains(text)) {
      throw new IllegalArgumentException(
          "is not one of " + String.join(", ", choices) + "; write one of them");
    }
    return text;
  }
}
