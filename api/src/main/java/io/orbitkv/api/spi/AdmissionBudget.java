package io.orbitkv.api.spi;

/**
 * Bounds the batches that are live or retained in one transport, and their descriptors' bytes. An
 * engine takes from it before a submission has any side effect, and gives back when the ticket's
 * receipt was issued.
 */
public interface AdmissionBudget {
  /**
   * Takes a place.
   *
   * @param descriptorBytes what the batch's descriptors occupy in the engine, bytes
   * @return the place, to be closed once
   * @throws io.orbitkv.api.TransportException EXHAUSTED, naming the limit; nothing was taken
   */
  Place take(long descriptorBytes);

  /** A place in the budget. */
  interface Place extends AutoCloseable {
    /**
     * Gives it back.
     *
     * @throws IllegalStateException if it was given back before
     */
    @Override
    void close();
  }
}
