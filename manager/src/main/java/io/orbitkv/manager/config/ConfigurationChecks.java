package io.orbitkv.manager.config;

import com.google.common.net.InetAddresses;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The checks that look at more than one setting. */
final class ConfigurationChecks {
  private static final int MAX_SOCKET_PATH_BYTES = 107;
  private static final String NICS_OPTION = "mooncake-nics";

  private ConfigurationChecks() {}

  static void check(SettingValues values) {
    checkAddresses(values);
    checkMembership(values);
    checkSocket(values);
    checkNics(values);
    checkQueries(values);
    checkMemory(values, AvailableMemory.now());
  }

  private static void checkQueries(SettingValues values) {
    int all = values.get(Settings.QUERIES);
    if (values.get(Settings.QUERIES_PER_SESSION) > all) {
      throw values
          .value(Settings.QUERIES_PER_SESSION)
          .fault(
              "is more than --queries, %d, which counts all sessions; make it at most that, or raise"
                      .formatted(all)
                  + " --queries");
    }
  }

  /** Before a page of it is touched: the kernel would kill somebody for what it does not have. */
  static void checkMemory(SettingValues values, AvailableMemory available) {
    if (values.poolBytes() > available.forPool()) {
      throw values
          .value(Settings.POOL_BYTES)
          .fault(
              "is more than %s has available, %s; make it at most %s"
                  .formatted(
                      available.holder(),
                      Numbers.about(available.bytes()),
                      Numbers.about(available.forPool())));
    }
  }

  private static void checkAddresses(SettingValues values) {
    Optional<InetAddress> advertise = values.get(Settings.ADVERTISE);
    InetAddress host = values.get(Settings.HOST);
    InetAddress published = advertise.orElse(host);
    SettingValue source = values.value(advertise.isPresent() ? Settings.ADVERTISE : Settings.HOST);
    if (published.isAnyLocalAddress()) {
      throw source.fault(
          "is a wildcard, which no peer can connect to; name this host's address with --advertise");
    }
    if (published.isMulticastAddress()) {
      throw source.fault("is a multicast address; name an address of this host");
    }
    for (HostPort peer : values.list(Settings.PEERS)) {
      if (published.isLoopbackAddress() && !isLoopback(peer.host())) {
        throw source.fault(
            "is a loopback address, and the peer "
                + peer
                + " can not connect to it; set --host to an address that it reaches");
      }
    }
  }

  private static void checkMembership(SettingValues values) {
    MembershipKind kind = values.get(Settings.MEMBERSHIP);
    SettingValue value = values.value(Settings.MEMBERSHIP);
    List<HostPort> peers = values.list(Settings.PEERS);
    if (kind == MembershipKind.STATIC && peers.isEmpty()) {
      throw value.fault("needs the other Managers; list them with --peers");
    }
    if (kind != MembershipKind.STATIC && !peers.isEmpty()) {
      throw value.fault(
          "does not use --peers (" + peers.getFirst() + "...); remove one of the two");
    }
    SettingValue port = values.value(Settings.PORT);
    if (kind == MembershipKind.NONE && values.get(Settings.PORT) != 0) {
      throw port.fault("is not used, as membership none starts no control listener; remove it");
    }
  }

  private static void checkSocket(SettingValues values) {
    values
        .get(Settings.SOCKET)
        .ifPresent(
            path -> {
              int bytes = path.toString().getBytes(StandardCharsets.UTF_8).length;
              if (bytes > MAX_SOCKET_PATH_BYTES) {
                throw values
                    .value(Settings.SOCKET)
                    .fault(
                        "has "
                            + bytes
                            + " bytes, and a Unix socket's path at most "
                            + MAX_SOCKET_PATH_BYTES
                            + "; choose a shorter one");
              }
            });
  }

  private static void checkNics(SettingValues values) {
    String backend = values.get(Settings.BACKEND);
    if (values.list(Settings.NICS).isEmpty()) {
      return;
    }
    SettingValue nics = values.value(Settings.NICS);
    if (!backend.equals("mooncake")) {
      throw nics.fault(
          "is for the provider mooncake alone, and the backend is " + backend + "; remove it");
    }
    if (!values.providerOptions().containsKey(NICS_OPTION)) {
      throw nics.fault(
          "can not be passed on: this provider mooncake has no "
              + NICS_OPTION
              + "; use the plugin of this version");
    }
  }

  /** The options of the backend, with {@code --nics} as what it stands for. */
  static Map<String, String> providerOptions(SettingValues values) {
    Map<String, String> options = values.providerOptions();
    List<String> nics = values.list(Settings.NICS);
    if (!nics.isEmpty()) {
      options.put(NICS_OPTION, String.join(",", nics));
    }
    return options;
  }

  private static boolean isLoopback(String host) {
    return host.equals("localhost")
        || (InetAddresses.isInetAddress(host) && InetAddresses.forString(host).isLoopbackAddress());
  }
}
