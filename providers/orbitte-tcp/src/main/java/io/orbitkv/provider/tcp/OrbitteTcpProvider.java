package io.orbitkv.provider.tcp;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.MemoryKind;
import io.orbitkv.api.Side;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.SpiVersion;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.ffm.NativeException;
import io.orbitkv.ffm.TcpListener;
import io.orbitkv.ffm.TcpStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The provider {@code orbitte-tcp}: needs nothing installed and works wherever TCP does. */
public final class OrbitteTcpProvider implements TransportProvider {
  private static final long MAX_READ_BYTES = 1L << 30;
  private static final int MAX_DESCRIPTORS = 16_384;

  /** Does nothing. */
  public OrbitteTcpProvider() {}

  @Override
  public String name() {
    return "orbitte-tcp";
  }

  @Override
  public String version() {
    return "0.1.0";
  }

  @Override
  public SpiVersion spiVersion() {
    return new SpiVersion(1, 0);
  }

  @Override
  public List<OptionSpec> options() {
    return TcpSettings.SPECS;
  }

  @Override
  public Capabilities capabilities(Map<String, String> options) {
    Set<Evidence> quiesced = Set.of(Evidence.LOCAL_QUIESCED);
    // What was copied, or never read, still ends without the peer.
    Set<Evidence> source =
        TcpSettings.parse(options).sendfile()
            ? Set.of(Evidence.LOCAL_QUIESCED, Evidence.PEER_RECEIPT)
            : quiesced;
    return new Capabilities(
        Set.of(MemoryKind.Type.HOST),
        Map.of(Side.DESTINATION, quiesced, Side.SOURCE, source),
        MAX_READ_BYTES,
        MAX_DESCRIPTORS,
        true,
        true);
  }

  @Override
  public Probe probe(Map<String, String> options) {
    TcpSettings settings;
    try {
      settings = TcpSettings.parse(options);
    } catch (TransportException e) {
      return Probe.unusable(String.valueOf(e.getMessage()), "correct that option");
    }
    InetSocketAddress listen = settings.listen();
    InetSocketAddress asked =
        listen == null ? new InetSocketAddress(InetAddress.getLoopbackAddress(), 0) : listen;
    InetAddress address = asked.getAddress();
    // Any port of the address: a Manager of this host may have the one that is named.
    try (TcpListener listener = TcpListener.listen(new InetSocketAddress(address, 0), 1);
        TcpStream stream = TcpStream.connect(listener.localAddress(), Engine.CONNECT_MILLIS)) {
      return Probe.usable(
          "TCP on " + address.getHostAddress() + ", " + stream.options().congestion());
    } catch (NativeException e) {
      ListenFault fault = ListenFault.of(asked, e);
      return Probe.unusable(fault.cause(), fault.fix());
    } catch (RuntimeException | LinkageError e) {
      return Probe.unusable(
          "TCP sockets can not be used: " + e.getMessage(),
          "start the JVM with --enable-native-access");
    }
  }

  @Override
  public Transport open(ProviderContext context) {
    TcpSettings settings = TcpSettings.parse(context.options());
    InetSocketAddress listen = settings.listen();
    if (listen == null) {
      listen = new InetSocketAddress(TcpEndpoint.ip(context.host()), 0);
    }
    if (listen.getAddress().isAnyLocalAddress()) {
      throw new TransportException(
          FaultCode.INVALID,
          "orbitte-tcp can not listen on the wildcard address "
              + TcpEndpoint.text(listen)
              + ", which peers can not connect to; give orbitte-tcp-listen an address of this host");
    }
    TcpTransport transport =
        new TcpTransport(Engine.of(context, settings), capabilities(context.options()), listen);
    transport.start();
    return transport;
  }
}
