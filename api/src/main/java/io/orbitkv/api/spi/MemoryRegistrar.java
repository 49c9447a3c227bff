package io.orbitkv.api.spi;

import io.orbitkv.api.Region;

/** Something that must be told which memory it may touch. */
public interface MemoryRegistrar {
  /**
   * Takes hold of a region.
   *
   * @param region its backing stays alive until the registration is closed, by whoever the region
   *     says
   * @return the hold, owned by the caller
   * @throws io.orbitkv.api.TransportException only if nothing was registered: UNSUPPORTED kind of
   *     memory, EXHAUSTED limit, IN_USE if the region's id is registered already, DEVICE
   */
  Registration register(Region region);
}
