package io.orbitkv.cli.bench;

/** What is measured in turn with the provider. */
public enum BaselineKind {
  /** The C loop; the Java one where there is no compiler. */
  AUTO,
  /** The C loop, or an error. */
  C,
  /** The Java loop. */
  JAVA,
  /** Nothing. */
  NONE
}
