package io.orbitkv.api.spi;

import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Region;
import io.orbitkv.api.RegionId;
import io.orbitkv.api.TicketId;
import java.util.List;

/**
 * One opened engine of a {@link DmaProvider}: copies between registered host regions and device
 * allocations of this host. It ends as a {@link Transport} does.
 */
public interface DeviceCopier extends MemoryRegistrar, AutoCloseable {
  /** What it binds itself to. */
  Capabilities capabilities();

  /**
   * Imports a device allocation that an engine process exported.
   *
   * @param id the name to give it
   * @param envelope the exporter's bytes, validated before anything is imported
   * @return the device memory as a region, to be registered like any other; ended by closing that
   *     registration
   * @throws io.orbitkv.api.TransportException CORRUPT, UNSUPPORTED, DEVICE; nothing was imported
   */
  Region importDevice(RegionId id, byte[] envelope);

  /**
   * Submits copies, in the direction that the regions' kinds say. Throws, or returns a ticket, as
   * {@link Peer#read}.
   *
   * @param copies what to copy
   * @param readyEvent the exporter's event that the copies must wait for; empty: none
   * @param ticket the name under which the receipt will be issued
   */
  Ticket copy(List<Copy> copies, byte[] readyEvent, TicketId ticket);

  /** Closes admission for good, as {@link Transport#quiesce()}. */
  void quiesce();

  /**
   * Ends the engine; does nothing the second time.
   *
   * @throws io.orbitkv.api.TransportException IN_USE while something is not ended
   */
  @Override
  void close();

  /**
   * One copy.
   *
   * @param from the source
   * @param to the destination, of the same number of bytes
   */
  record Copy(Descriptor from, Descriptor to) {
    /** Checks the lengths. */
    public Copy {
      if (from.bytes() != to.bytes()) {
        throw new IllegalArgumentException("copy of " + from.bytes() + " to " + to.bytes());
      }
    }
  }
}
