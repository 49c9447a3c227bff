package io.orbitkv.tck;

/**
 * What a provider, or the fixture around it, may decline with a reason; everything else is expected
 * of everyone.
 */
public enum Behaviour {
  /** A cancel ends work that stands still; as {@code Capabilities.cancels} says. */
  CANCEL,
  /** Strided descriptors; as {@code Capabilities.strided} says. */
  STRIDED,
  /** The fixture's lever can stop the link after a number of bytes, and let it go on. */
  STALL,
  /** The fixture's lever can break what goes over the link. */
  CUT,
  /** The fixture's lever can put another owner behind the same endpoint. */
  SUCCESSOR,
  /** The fixture has the provider as a packaged plugin. */
  PACKAGE
}
