package io.orbitkv.api.spi;

/** A provider that copies between host memory and a device of this host. */
public non-sealed interface DmaProvider extends Provider {
  /**
   * Opens one engine.
   *
   * @param context what the Manager lends; valid until the copier is closed
   * @return the engine, owned by the caller, ended by {@link DeviceCopier#close()}
   * @throws io.orbitkv.api.TransportException if it can not be opened; nothing is left behind then
   */
  DeviceCopier open(ProviderContext context);
}
