package io.orbitkv.bench;

/** Something that can move the blocks of a shape: the provider, or one way of the baseline. */
public interface Contender {
  /** Its name in tables. */
  String name();

  /**
   * Warms up, then measures.
   *
   * @param warmUpSeconds how long the same is done before, unmeasured
   * @param seconds how long it is measured; at least one operation
   * @throws io.orbitkv.api.TransportException if the owner or the process behind it is lost
   */
  Sample measure(LoopShape shape, double warmUpSeconds, double seconds) throws InterruptedException;
}
