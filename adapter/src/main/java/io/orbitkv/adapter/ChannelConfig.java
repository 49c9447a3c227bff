package io.orbitkv.adapter;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * An isolated domain: the one socket at which the processes of it meet their Manager, written in
 * the file that {@value #VARIABLE} names. A process reads that once; from then on it attaches to,
 * or serves, no other socket. Anything wrong with the file or the folders it names is refused in
 * one line. Immutable; thread-safe.
 */
public final class ChannelConfig {
  /** The environment variable with the absolute path of the file. Empty counts as not set. */
  public static final String VARIABLE = "ORBITKV_CHANNEL_CONFIG";

  /** Longest file, bytes. */
  public static final int MAX_BYTES = 64 << 10;

  private final Path file;
  private final ChannelConfigText text;
  private final PathIdentity socketFolder;
  private final @Nullable PathIdentity registryFolder;

  private ChannelConfig(Path file, ChannelConfigText text) {
    this.file = file;
    this.text = text;
    this.socketFolder = folder(file, parent(text.socket()));
    Path registry = text.registryDirectory();
    this.registryFolder = registry == null ? null : folder(file, registry);
  }

  /**
   * The domain of this process, read at the first call.
   *
   * @return empty if the variable is not set
   * @throws TransportException INVALID, at every call, if it was wrong at the first
   */
  public static Optional<ChannelConfig> ofProcess() {
    TransportException fault = OfProcess.FAULT;
    if (fault != null) {
      throw new TransportException(fault.code(), String.valueOf(fault.getMessage()), fault);
    }
    return Optional.ofNullable(OfProcess.CONFIG);
  }

  /**
   * Reads a domain's file, each time that it is called.
   *
   * @param name absolute and normal: no symlink, {@code .} or {@code ..} in it
   * @throws TransportException INVALID, naming the file, the cause and the fix
   */
  public static ChannelConfig read(String name) {
    Path file = path(VARIABLE + "=" + name, name);
    PathIdentity before = PathIdentity.of(file);
    if (!before.isRegularFile()) {
      throw invalid(file + " is not a regular file; name one");
    }
    byte[] bytes = bytes(file);
    if (bytes.length > MAX_BYTES) {
      throw invalid(file + " is longer than " + MAX_BYTES + " bytes; shorten it");
    }
    before.check();
    return new ChannelConfig(file, ChannelConfigText.parse(file, bytes));
  }

  /** The file. */
  public Path file() {
    return file;
  }

  /** The one socket of the domain. */
  public Path socket() {
    return text.socket();
  }

  /** Where the Managers of the domain find each other, if the file says so. */
  public Optional<Path> registryDirectory() {
    return Optional.ofNullable(text.registryDirectory());
  }

  /** The only user whose process may be behind the socket, if the file says so. */
  public OptionalInt managerUid() {
    return text.managerUid();
  }

  /** The instance of a client that names none, if the file says so. */
  public Optional<String> instance() {
    return Optional.ofNullable(text.instance());
  }

  /**
   * To be asked before and after a socket is used: whether it is the domain's, and the folders are
   * still those that were there at the start, by device and inode.
   *
   * @throws TransportException INVALID if not
   */
  public void check(Path asked) {
    if (!asked.toAbsolutePath().normalize().equals(text.socket())) {
      throw invalid(
          "socket "
              + asked
              + " is not "
              + text.socket()
              + " of "
              + file
              + ", the only one that this process may use; drop it, or unset "
              + VARIABLE);
    }
    socketFolder.check();
    if (registryFolder != null) {
      registryFolder.check();
    }
    if (Files.isSymbolicLink(text.socket())) {
      throw invalid(text.socket() + " is a symlink; remove it");
    }
  }

  /** The socket of this process's domain; throws INVALID if there is none. */
  static Path socketOfProcess() {
    return ofProcess()
        .map(ChannelConfig::socket)
        .orElseThrow(() -> invalid(VARIABLE + " is not set; set it, or name the socket"));
  }

  /** What {@link #check} throws, of this process's domain if there is one. */
  static void checkOfProcess(Path socket) {
    ofProcess().ifPresent(config -> config.check(socket));
  }

  /** The options of a client as this process's domain, if there is one, has them. */
  static ClientOptions appliedTo(ClientOptions options) {
    ChannelConfig config = ofProcess().orElse(null);
    if (config == null) {
      return options;
    }
    ClientOptions applied = options;
    if (config.managerUid().isPresent()) {
      applied = applied.withManagerUid(config.managerUid().getAsInt());
    }
    boolean unnamed = options.instance().equals(ClientOptions.DEFAULTS.instance());
    return unnamed ? config.instance().map(applied::withInstance).orElse(applied) : applied;
  }

  /** An absolute, normal path, for a message that begins with where it was written. */
  static Path path(String where, String name) {
    try {
      Path path = Path.of(name);
      if (path.isAbsolute() && path.toString().equals(name) && path.normalize().equals(path)) {
        return path;
      }
    } catch (InvalidPathException e) {
      throw new TransportException(
          FaultCode.INVALID, where + ": " + e.getReason() + "; write an absolute path", e);
    }
    throw invalid(where + " is not an absolute path without . and ..; write one");
  }

  static TransportException invalid(String message) {
    return new TransportException(FaultCode.INVALID, message);
  }

  private static byte[] bytes(Path file) {
    try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      return in.readNBytes(MAX_BYTES + 1);
    } catch (IOException e) {
      throw new TransportException(
          FaultCode.INVALID, file + " can not be read (" + e + "); make it readable", e);
    }
  }

  private static PathIdentity folder(Path file, Path folder) {
    PathIdentity identity = PathIdentity.of(folder);
    if (!identity.isFolder()) {
      throw invalid(file + ": " + folder + " is not a folder; name one");
    }
    return identity;
  }

  private static Path parent(Path socket) {
    Path parent = socket.getParent();
    if (parent == null) {
      throw invalid(socket + " is no path of a socket; write another");
    }
    return parent;
  }

  /** Read once, whatever came of it. */
  private static final class OfProcess {
    static final @Nullable ChannelConfig CONFIG;
    static final @Nullable TransportException FAULT;

    static {
      ChannelConfig config = null;
      TransportException fault = null;
      String name = System.getenv(VARIABLE);
      if (name != null && !name.isEmpty()) {
        try {
          config = read(name);
        } catch (TransportException e) {
          fault = e;
        }
      }
      CONFIG = config;
      FAULT = fault;
    }

    private OfProcess() {}
  }
}
