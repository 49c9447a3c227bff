package io.orbitkv.api.spi;

/** A provider whose engine moves bytes between hosts. */
public non-sealed interface TransportProvider extends Provider {
  /**
   * Opens one engine: a new incarnation with the epoch of {@code context.receipts()}. When this
   * returns, peers can connect to its endpoint.
   *
   * @param context what the Manager lends; valid until the transport is closed
   * @return the engine, owned by the caller, ended by {@link Transport#close()}
   * @throws io.orbitkv.api.TransportException if it can not be opened (a port in use, a device that
   *     is missing); nothing is left behind then
   */
  Transport open(ProviderContext context);
}
