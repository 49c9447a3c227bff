package io.orbitkv.systemtests.rig;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.Probe;
import io.orbitkv.api.spi.ProviderContext;
import io.orbitkv.api.spi.SpiVersion;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import java.util.List;
import java.util.Map;

/** A provider named lacking-library, whose class needs a native library that nobody has. */
@SuppressWarnings("restricted")
public final class LacksLibraryProvider implements TransportProvider {
  static {
    System.loadLibrary("orbitkv-nonesuch");
  }

  @Override
  public String name() {
    return "lacking-library";
  }

  @Override
  public String version() {
    return "0.1";
  }

  @Override
  public SpiVersion spiVersion() {
    return new SpiVersion(1, 0);
  }

  @Override
  public List<OptionSpec> options() {
    return List.of();
  }

  @Override
  public Capabilities capabilities(Map<String, String> options) {
    throw neverLoaded();
  }

  @Override
  public Probe probe(Map<String, String> options) {
    throw neverLoaded();
  }

  @Override
  public Transport open(ProviderContext context) {
    throw neverLoaded();
  }

  private static AssertionError neverLoaded() {
    return new AssertionError("a class that can not be loaded was called");
  }
}
