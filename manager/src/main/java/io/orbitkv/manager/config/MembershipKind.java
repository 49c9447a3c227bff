package io.orbitkv.manager.config;

/** How a Manager learns of the others. */
public enum MembershipKind {
  /** It stays alone and starts no control listener. */
  NONE,
  /** The Managers of this host find each other in a directory. */
  LOCAL,
  /** The Managers of a fixed list. */
  STATIC
}
